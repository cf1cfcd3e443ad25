//! The socket at which a node offers captures.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use system::{Clock, is_try_again};

use super::{CaptureTap, Captured, REFUSED, Request, Writer};
use crate::plane::TapMaker;
use crate::remote_control::RemoteControl;

/// The server; it ends when dropped.
pub(crate) struct CaptureServer {
    path: PathBuf,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Captures at once.
const MAX_CAPTURES: usize = 8;
/// Frames that may wait to be written.
const MAX_WAITING: usize = 8192;
/// How long a client may take to ask, and to read.
const TIMEOUT: Duration = Duration::from_secs(5);

impl CaptureServer {
    pub(crate) fn start(path: &Path, clock: Clock, node: RemoteControl) -> io::Result<Self> {
        crate::socket_path::clear(path)?;
        let listener = UnixListener::bind(path)?;
        // What goes by is not for everybody.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("captures".to_owned()).spawn(move || {
            // Its own threads inherit that.
            crate::sys::threads::go_behind_the_data_plane();
            let running = Arc::new(AtomicUsize::new(0));
            for client in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let Ok(client) = client else {
                    // Out of descriptors, most likely, and asking again at once would take what another
                    // thread gives up.
                    std::thread::sleep(crate::ACCEPT_RETRY_INTERVAL);
                    continue;
                };
                let Some(place) = CaptureSlot::take(&running) else { continue };
                let (node, stopped) = (node.clone(), stopped.clone());
                let work = move || {
                    let _place = place;
                    if let Err(error) = serve(&client, clock, &node, &stopped) {
                        tracing::debug!(%error, "a capture ended");
                    }
                };
                let _ = std::thread::Builder::new().name("capture".to_owned()).spawn(work);
            }
        })?;
        Ok(CaptureServer { path: path.to_owned(), stop, thread: Some(thread) })
    }
}

impl Drop for CaptureServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for a client.
        let woken = UnixStream::connect(&self.path);
        if let Some(thread) = self.thread.take().filter(|_| woken.is_ok()) {
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The place of one capture, free again when it ends, or when there can be no thread for it.
struct CaptureSlot(Arc<AtomicUsize>);

impl CaptureSlot {
    fn take(running: &Arc<AtomicUsize>) -> Option<Self> {
        let before = running.fetch_add(1, Ordering::Relaxed);
        let place = CaptureSlot(running.clone());
        (before < MAX_CAPTURES).then_some(place)
    }
}

impl Drop for CaptureSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn serve(client: &UnixStream, clock: Clock, node: &RemoteControl, stop: &AtomicBool) -> io::Result<()> {
    client.set_read_timeout(Some(TIMEOUT))?;
    client.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(client).take(70_000).read_line(&mut line)?;
    let request: Request = match line.trim_end().parse() {
        Ok(request) => request,
        Err(error) => return refuse(client, &error.to_string()),
    };
    if let Some(face) = request.face
        && node.call(move |plane| plane.faces.contains_key(&face)) == Some(false)
    {
        return refuse(client, &format!("there is no face {face}"));
    }
    let (sender, frames) = sync_channel(MAX_WAITING);
    let missed = Arc::new(AtomicU64::new(0));
    let (wanted, missed_here) = (request.face, missed.clone());
    let maker: TapMaker = Box::new(move |face| {
        if wanted.is_some_and(|wanted| wanted != face.id) {
            return None;
        }
        Some(Box::new(CaptureTap {
            face: face.id,
            remote: face.remote.to_string().into(),
            dialect: face.codec.dialect(),
            prefix: request.prefix.clone(),
            frames: sender.clone(),
            missed: missed_here.clone(),
        }))
    });
    let Some(tap) = node.call(move |plane| plane.tapping.add_everywhere(&mut plane.faces, maker)) else {
        return Ok(());
    };
    let outcome = copy_frames(client, clock, &frames, stop);
    node.call(move |plane| plane.tapping.remove(&mut plane.faces, tap));
    let missed = missed.load(Ordering::Relaxed);
    if missed > 0 {
        tracing::warn!("a capture missed {missed} frames, because its reader was too slow");
    }
    outcome
}

/// Says why there will be no capture, in one piece: whoever reads takes the first for all of it.
fn refuse(mut client: &UnixStream, why: &str) -> io::Result<()> {
    client.write_all(format!("{REFUSED}{why}\n").as_bytes())
}

fn copy_frames(
    client: &UnixStream,
    clock: Clock,
    frames: &std::sync::mpsc::Receiver<Captured>,
    stop: &AtomicBool,
) -> io::Result<()> {
    let now = clock.both();
    let epoch = (now.unix.as_millis() * 1_000_000).saturating_sub(now.instant.as_nanos());
    let mut writer = Writer::new(BufWriter::new(client), epoch)?;
    writer.flush()?;
    client.set_read_timeout(Some(Duration::from_millis(1)))?;
    while !stop.load(Ordering::Relaxed) {
        match frames.recv_timeout(Duration::from_millis(100)) {
            Ok(frame) => {
                writer.write(&frame)?;
                // What has come meanwhile is written together.
                for frame in frames.try_iter().take(MAX_WAITING) {
                    writer.write(&frame)?;
                }
                writer.flush()?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        // A client that has hung up says so when it is read from.
        match (&mut &*client).read(&mut [0]) {
            Ok(0) => return Ok(()),
            Err(error) if is_try_again(&error) => {}
            Ok(_) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
