//! Fetching an object while all else goes on.

use std::path::Path;

use flow::{Fetcher, Segment, VerifiedFetch};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::{AsyncClient, driver};
use crate::client::fetching::{FetchFailure, FetchOptions, FetchStep, Reader};
use crate::error::ClientError;
use crate::get::{FetchMonitor, Fetched, Get, PartFile};
use crate::session::FetchId;

/// A fetch that ends when nobody waits for it any more.
struct Running<'a> {
    client: &'a AsyncClient,
    id: FetchId,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.client.lock().session.end_fetch(self.id);
    }
}

impl AsyncClient {
    /// Runs a fetch until the object is complete, and gives it back with how it ended: [`Client::fetch`],
    /// with the same reader. Everything else goes on meanwhile.
    ///
    /// The reader is called in the task that waits here, and must not block. From [`Reader::progress`] it
    /// must not call the client, which is locked while the fetch is looked at.
    ///
    /// For an object that only has to be got there is [`AsyncClient::get`]; this is for readers of one's own.
    ///
    /// ```no_run
    /// use std::io;
    ///
    /// use cairn_client::{AsyncClient, Clock, FetchOptions, Reader, Remote};
    /// use flow::verify::IntegrityVerifier;
    /// use flow::{FetchConfig, Fetcher, Segment, Verification, VerifiedFetch};
    ///
    /// /// Counts what comes.
    /// #[derive(Default)]
    /// struct Counter {
    ///     bytes: usize,
    /// }
    ///
    /// impl Reader for Counter {
    ///     fn segments(&mut self, segments: &[Segment]) -> io::Result<()> {
    ///         self.bytes += segments.iter().map(|segment| segment.data.content().len()).sum::<usize>();
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = AsyncClient::connect(&Remote::default_forwarder()?).await?;
    /// let config = FetchConfig { verification: Verification::Owner, ..FetchConfig::default() };
    /// let fetcher = Fetcher::new("/lab/film".parse()?, config, client.now(), Clock::seed());
    /// let fetch = VerifiedFetch::new(fetcher, Box::new(IntegrityVerifier::new()));
    /// let mut counter = Counter::default();
    /// let (fetch, outcome) = client.fetch(fetch, &mut counter, &FetchOptions::default()).await;
    /// outcome?;
    /// println!("{} bytes: {}", counter.bytes, fetch.verifier().summary().text);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Client::fetch`]: crate::Client::fetch
    pub async fn fetch(
        &self,
        fetch: VerifiedFetch,
        reader: &mut (impl Reader + Send + ?Sized),
        options: &FetchOptions,
    ) -> (VerifiedFetch, Result<(), FetchFailure>) {
        let id = self.lock().session.begin_fetch(fetch, options.next_hops());
        let running = Running { client: self, id };
        self.shared().poked.notify_one();
        let outcome = running.read(reader, options).await;
        let fetch = self.lock().session.give_back(id);
        (fetch, outcome)
    }
}

impl Get<'_, &AsyncClient> {
    /// Fetches into memory.
    ///
    /// # Errors
    /// The object cannot be had, not be trusted, or is too large; the forwarder went away for too long.
    pub async fn into_memory(self) -> Result<(Vec<u8>, Fetched), FetchFailure> {
        let mut bytes = Vec::new();
        let fetched = self.bounded().write_to(&mut bytes).await?;
        Ok((bytes, fetched))
    }

    /// Fetches into a file, which takes the place of what is there when it is complete, and not before: until
    /// then it has `.part` behind its name.
    ///
    /// # Errors
    /// As [`Get::into_memory`]; the file cannot be written. What has come is removed then.
    pub async fn into_file(self, path: impl AsRef<Path>) -> Result<Fetched, FetchFailure> {
        let path = path.as_ref().to_owned();
        let part = blocking(move || PartFile::create(&path)).await?;
        let mut out = tokio::io::BufWriter::new(tokio::fs::File::from_std(part.file.try_clone()?));
        let fetched = self.write_to(&mut out).await?;
        // `flush` of a file of tokio waits for its last write, and tells of it.
        out.flush().await?;
        blocking(move || part.complete()).await?;
        Ok(fetched)
    }

    /// Fetches and writes to `out`, in order, what is verified.
    ///
    /// # Errors
    /// As [`Get::into_memory`]; `out` fails.
    pub async fn write_to(self, out: &mut (impl AsyncWrite + Unpin)) -> Result<Fetched, FetchFailure> {
        let (client, request) = self.into_parts();
        let options = request.options();
        let (fetch, mut rest) = request.begin(client.now());
        let id = client.change(|client| Ok(client.session.begin_fetch(fetch, options.next_hops())))?;
        let running = Running { client, id };
        let outcome = running.drive(&mut rest, &options, out).await;
        let ended: Option<VerifiedFetch> = client.lock().session.end_fetch(id);
        match ended {
            Some(fetch) => rest.fetched(&fetch, outcome),
            None => Err(FetchFailure::Interrupted),
        }
    }
}

impl Running<'_> {
    async fn drive(
        &self,
        rest: &mut FetchMonitor<'_>,
        options: &FetchOptions,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<(), FetchFailure> {
        let mut segments: Vec<Segment> = Vec::new();
        loop {
            match self.step(|fetcher| rest.tell(fetcher), options, &mut segments).await? {
                FetchStep::Over(outcome) => return outcome,
                FetchStep::Segments => {
                    for segment in &segments {
                        rest.count(segment)?;
                        out.write_all(segment.data.content()).await?;
                    }
                    self.recycle(&mut segments)?;
                }
                FetchStep::Refused(_) | FetchStep::Waiting => {}
            }
        }
    }

    /// The same for a reader, which is told of refused packets too.
    async fn read(
        &self,
        reader: &mut (impl Reader + Send + ?Sized),
        options: &FetchOptions,
    ) -> Result<(), FetchFailure> {
        let mut segments: Vec<Segment> = Vec::new();
        loop {
            match self.step(|fetcher| reader.progress(fetcher), options, &mut segments).await? {
                FetchStep::Over(outcome) => return outcome,
                FetchStep::Segments => {
                    reader.segments(&segments)?;
                    self.recycle(&mut segments)?;
                }
                FetchStep::Refused(refused) => reader.refused(refused),
                FetchStep::Waiting => {}
            }
        }
    }

    /// Takes back the memory of segments that are done with: there is room for more.
    fn recycle(&self, segments: &mut Vec<Segment>) -> Result<(), ClientError> {
        self.client.change(|client| {
            client.recycle(segments);
            Ok(())
        })
    }

    /// The next thing that has come of the fetch, telling how far it is meanwhile.
    async fn step(
        &self,
        mut goes_on: impl FnMut(&Fetcher) -> bool,
        options: &FetchOptions,
        segments: &mut Vec<Segment>,
    ) -> Result<FetchStep, FetchFailure> {
        let looked = self.client.until(|client| {
            let step = client.poll_fetch(self.id, segments);
            if !matches!(step, FetchStep::Waiting) {
                return Some(Ok(step));
            }
            if driver::is_gone_too_long(client.gone_since(), client.now(), options.max_outage) {
                return Some(Err(ClientError::Away(client.connection().remote().clone())));
            }
            let wants_more = client.session.fetch(self.id).is_some_and(|fetch| goes_on(fetch.fetcher()));
            (!wants_more).then_some(Ok(FetchStep::Over(Err(FetchFailure::Interrupted))))
        });
        Ok(looked.await??)
    }
}

/// Does on a thread for that what may wait for a disk.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> std::io::Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // The runtime ends, or the work panicked.
        Err(error) => Err(std::io::Error::other(error)),
    }
}
