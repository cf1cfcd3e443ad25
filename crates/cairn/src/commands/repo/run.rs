//! `cairn repo run`: serves a repository beside any forwarder.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::JoinHandle;

use clap::Args;
use client::Client;
use formats::printable::printable_path;
use packet::ccnx::uri;
use packet::{Dialect, Name};
use repo::Event;
use repo::ccnr::{Authority, CcnrConfig, GLOBAL_PREFIX};
use repo::eviction::{self, ObjectEvictionSpec};
use repo::service::{Service, ServiceConfig, ServiceHandle};

use super::ccnr::CcnxRepository;
use super::commands::{CommandHandler, PrefixChange, Trust};
use super::folder::FolderArguments;
use super::window::{Answers, NdnService, Served, Window, answer_box};
use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::leave;
use crate::tool::signing::SigningArguments;
use crate::tool::trusting::TrustArguments;
use crate::tool::units::show_size;
use packet::name::AnyName;

/// Serve a repository beside a forwarder, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Names of objects are found as in a content store: exactly, by prefix (the newest version), fresh or not, and by metadata. With --bulk it \
takes Data packets by TCP, as ndn-python-repo, repo-ng and NDNts do: whoever reaches the address can insert.

Below prefixes of CCNx (ccnx:/…) it is a ccnr: it stores what clients on this host hand over (`ccnseqwriter -r`, ccnputfile, `cairn put \
--repo`), and lists names for them. With --anchor (files with public keys) it stores what these publishers have signed, wherever they \
are; with --anyone everybody's objects.

Examples:
  cairn repo run store /lab
  cairn repo run store /lab /home --connect tcp://router.example --max-bytes 100000000000
  cairn repo run store /lab --bulk 127.0.0.1:7376
  cairn repo run store /lab --name /lab/repo --anchor lab.cert     and then: cairn put /lab/file -f file --repo /lab/repo
  cairn repo run store ccnx:/lab                 and then: cairn put ccnx:/lab/file -f file --repo ccnx:/lab

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The prefixes to register; `ccnx:/…` with a forwarder of CCNx.
    #[arg(required = true)]
    prefixes: Vec<AnyName>,
    /// Bytes that objects may take; when there is more, some are evicted. Left out, as many as the disk has.
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
    /// Who is evicted: delete-queue, lru, lfu, gdsf, tiny-lfu, sieve or s3-fifo, with parameters.
    #[arg(long, value_name = "POLICY", default_value = "delete-queue")]
    eviction: ObjectEvictionSpec,
    /// Take Data packets by TCP at this address.
    #[arg(long, value_name = "ADDRESS")]
    bulk: Option<SocketAddr>,
    /// Take commands to insert and delete under this name, as ndn-python-repo does. They are carried out if
    /// they lead up to an anchor. `ccnx:/…` is where the policy for clients of CCNx is.
    #[arg(long, value_name = "NAME")]
    name: Option<AnyName>,
    /// Carry out anybody's commands.
    #[arg(long, conflicts_with_all = ["anchor", "rules"])]
    anyone: bool,
    #[command(flatten)]
    trust: TrustArguments,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl RunArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut store = self.folder.open_or_make(self.max_bytes.unwrap_or(u64::MAX))?;
        store.set_eviction(eviction::start(&self.eviction));
        let (objects, bytes) = (store.catalogue().len(), store.bytes());
        let (answer_box, answers) = answer_box();
        let service = Service::start(store, ServiceConfig::default(), answer_box.answered())?;
        if let Some(address) = self.bulk {
            let bound = super::bulk::listen(address, service.handle());
            let bound =
                bound.map_err(|error| ToolError::other(format!("cannot listen at {address}: {error}")))?;
            tell!("bulk insertion at {bound}");
        }
        let changes = self.take_commands(&service, &interrupt)?;
        let mut client = self.client()?;
        let is_over = Arc::new(AtomicBool::new(false));
        let in_ccnx = self.serve_in_ccnx(service.handle(), answers.ccnx, &interrupt, Arc::clone(&is_over))?;
        tell!(
            "serving {objects} objects, {}, from {}",
            show_size(bytes as f64),
            printable_path(self.folder.path())
        );
        let mut window = Window::new(NdnService(service.handle()), answers.ndn);
        let mut served = Ok(());
        if let Some(client) = &mut client {
            let has_ended = || in_ccnx.as_ref().is_some_and(JoinHandle::is_finished);
            while served.is_ok() && !interrupt.came() && !has_ended() {
                change_prefixes(client, changes.as_ref());
                served = window.turn(client);
            }
            leave(client);
            is_over.store(true, Ordering::Relaxed);
        }
        let in_ccnx = in_ccnx.map(|thread| thread.join().map_err(|_| failed())).transpose()?;
        let store = service.stop();
        served?;
        let mut store = store.ok_or_else(failed)?;
        while let Some(Event::Corrupt(name)) = store.poll_event() {
            tell!("cairn: {name} was not as it had been written, and was dropped");
        }
        let served = window.served() + in_ccnx.transpose()?.unwrap_or_default();
        tell!("served {} packets, {}", served.packets, show_size(served.content_bytes as f64));
        Ok(ExitCode::SUCCESS)
    }
}

fn failed() -> ToolError {
    ToolError::other("the repository's thread has failed")
}

/// Serves clients of CCNx, and gives what it served.
type CcnxThread = JoinHandle<Result<Served, ToolError>>;

impl RunArguments {
    /// The prefixes of a dialect.
    fn prefixes(&self, dialect: Dialect) -> Vec<Name> {
        let of_dialect = self.prefixes.iter().filter(|prefix| prefix.dialect == dialect);
        of_dialect.map(|prefix| prefix.name.clone()).collect()
    }

    /// The name for commands, if it is one of this dialect.
    fn name(&self, dialect: Dialect) -> Option<&Name> {
        self.name.as_ref().filter(|name| name.dialect == dialect).map(|name| &name.name)
    }

    /// A connection to a forwarder of NDN with all prefixes registered, if there are any.
    fn client(&self) -> Result<Option<Client>, ToolError> {
        let prefixes = self.prefixes(Dialect::Ndn);
        if prefixes.is_empty() && self.name(Dialect::Ndn).is_none() {
            return Ok(None);
        }
        let mut client = self.connect.client_as(&self.signing)?;
        for prefix in &prefixes {
            client.register(prefix)?;
        }
        Ok(Some(client))
    }

    /// Begins to serve clients of CCNx, if there are prefixes for them.
    fn serve_in_ccnx(
        &self,
        service: ServiceHandle,
        answers: Answers,
        interrupt: &Interrupt,
        is_over: Arc<AtomicBool>,
    ) -> Result<Option<CcnxThread>, ToolError> {
        let namespaces = self.prefixes(Dialect::Ccnx);
        if namespaces.is_empty() {
            return Ok(None);
        }
        let authority = match (self.anyone, self.trust.is_given()) {
            (true, _) => Authority::Anyone,
            (false, true) => Authority::Publishers(self.trust.publishers()?),
            (false, false) => Authority::Host,
        };
        let signer = self.signing.ccnx_signer()?;
        let client = self.connect.ccnx_client_as(&signer)?;
        let global_prefix = match self.name(Dialect::Ccnx) {
            Some(name) => name.clone(),
            None => uri::parse(GLOBAL_PREFIX)?,
        };
        let config = CcnrConfig { global_prefix, namespaces, authority };
        let repository = CcnxRepository::start(client, service, answers, signer, config)?;
        let interrupt = interrupt.clone();
        let run = move || repository.run(|| !interrupt.came() && !is_over.load(Ordering::Relaxed));
        Ok(Some(std::thread::Builder::new().name("ccnr".to_owned()).spawn(run)?))
    }

    /// Begins to take commands, if there is a name for them. Gives what they want registered.
    fn take_commands(
        &self,
        service: &Service,
        interrupt: &Interrupt,
    ) -> Result<Option<Receiver<PrefixChange>>, ToolError> {
        let Some(name) = self.name(Dialect::Ndn) else { return self.check_anyone() };
        let trust = match (self.trust.validator()?, self.anyone) {
            (Some(validator), _) => Trust::Validator(Box::new(validator)),
            (None, true) => Trust::Anyone,
            (None, false) => {
                let why = "nobody may give commands: name who may with --anchor or --rules, or give --anyone";
                return Err(ToolError::other(why));
            }
        };
        let client = self.connect.client_as(&self.signing)?;
        let connect = self.connect.clone();
        let signer = self.signing.signer()?;
        let (handler, changes) =
            CommandHandler::start(client, connect, name.clone(), service.handle(), signer, trust)?;
        let interrupt = interrupt.clone();
        let run = move || {
            if let Err(error) = handler.run(|| !interrupt.came()) {
                tell!("cairn: no more commands are taken: {error}");
            }
        };
        std::thread::Builder::new().name("commands".to_owned()).spawn(run)?;
        tell!("commands are taken at {name}");
        Ok(Some(changes))
    }

    /// Without a name for commands of NDN, anybody's are those of CCNx.
    fn check_anyone(&self) -> Result<Option<Receiver<PrefixChange>>, ToolError> {
        if self.anyone && self.prefixes(Dialect::Ccnx).is_empty() {
            return Err(ToolError::other("--anyone needs a --name for commands, or a prefix of CCNx"));
        }
        Ok(None)
    }
}

/// Registers what commands want registered, and takes back what they do not want any more.
fn change_prefixes(client: &mut Client, changes: Option<&Receiver<PrefixChange>>) {
    for change in changes.into_iter().flat_map(Receiver::try_iter) {
        let changed = match change.is_wanted {
            true => client.register(&change.prefix),
            false => client.unregister(&change.prefix),
        };
        // Whoever wanted it may have waited long enough.
        let _ = change.done.send(changed.map_err(|error| error.to_string()));
    }
}
