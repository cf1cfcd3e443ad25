//! `cairn repo run`: serves a repository beside any forwarder.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::mpsc::Receiver;

use clap::Args;
use client::Client;
use packet::Name;
use repo::Event;
use repo::eviction::{self, PolicySpec};
use repo::service::{Service, ServiceConfig};

use super::commands::{Commander, PrefixChange, Trust};
use super::folder::FolderArguments;
use super::window::{Window, answer_box};
use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::leave;
use crate::tool::signing::SigningArguments;
use crate::tool::trusting::TrustArguments;
use crate::tool::units::show_size;

/// Serve a repository beside a forwarder, until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Names of objects are found as in a content store: exactly, by prefix (the newest version), fresh or not, and by metadata. With --bulk it \
takes Data packets by TCP, as ndn-python-repo, repo-ng and NDNts do: whoever reaches the address can insert.

Examples:
  cairn repo run store /lab
  cairn repo run store /lab /home --connect tcp://router.example --max-bytes 100000000000
  cairn repo run store /lab --bulk 127.0.0.1:7376
  cairn repo run store /lab --name /lab/repo --anchor lab.cert     and then: cairn put /lab/file -f file --repo /lab/repo

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(crate) struct RunArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The prefixes to register.
    #[arg(required = true)]
    prefixes: Vec<Name>,
    /// Bytes that objects may take; when there is more, some are evicted. Left out, as many as the disk has.
    #[arg(long, value_name = "BYTES")]
    max_bytes: Option<u64>,
    /// Who is evicted: delete-queue, lru, lfu, gdsf, tiny-lfu, sieve or s3-fifo, with parameters.
    #[arg(long, value_name = "POLICY", default_value = "delete-queue")]
    eviction: PolicySpec,
    /// Take Data packets by TCP at this address.
    #[arg(long, value_name = "ADDRESS")]
    bulk: Option<SocketAddr>,
    /// Take commands to insert and delete under this name, as ndn-python-repo does. They are carried out if
    /// they lead up to an anchor.
    #[arg(long, value_name = "NAME")]
    name: Option<Name>,
    /// Carry out anybody's commands.
    #[arg(long, requires = "name", conflicts_with_all = ["anchor", "rules"])]
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
        let mut client = self.connect.client_as(&self.signing)?;
        for prefix in &self.prefixes {
            client.register(prefix)?;
        }
        if let Some(address) = self.bulk {
            let bound = super::bulk::listen(address, service.handle());
            let bound =
                bound.map_err(|error| ToolError::other(format!("cannot listen at {address}: {error}")))?;
            tell!("bulk insertion at {bound}");
        }
        let changes = self.take_commands(&service, &interrupt)?;
        tell!(
            "serving {objects} objects, {}, from {}",
            show_size(bytes as f64),
            self.folder.path().display()
        );
        let handle = service.handle();
        let mut window = Window::new(move |question, interest| handle.ask(question, interest), answers);
        let served = loop {
            if interrupt.came() {
                break Ok(());
            }
            change_prefixes(&mut client, changes.as_ref());
            if let Err(error) = window.turn(&mut client) {
                break Err(error);
            }
        };
        leave(&mut client);
        let store = service.stop();
        served?;
        let mut store = store.ok_or_else(|| ToolError::other("the repository's thread has failed"))?;
        while let Some(Event::Corrupt(name)) = store.poll_event() {
            tell!("cairn: {name} was not as it had been written, and was dropped");
        }
        let (packets, bytes) = window.served();
        tell!("served {packets} packets, {}", show_size(bytes as f64));
        Ok(ExitCode::SUCCESS)
    }
}

impl RunArguments {
    /// Begins to take commands, if there is a name for them. Gives what they want registered.
    fn take_commands(
        &self,
        service: &Service,
        interrupt: &Interrupt,
    ) -> Result<Option<Receiver<PrefixChange>>, ToolError> {
        let Some(name) = &self.name else { return Ok(None) };
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
        let (commander, changes) =
            Commander::start(client, connect, name.clone(), service.handle(), (signer, trust))?;
        let interrupt = interrupt.clone();
        let run = move || {
            if let Err(error) = commander.run(|| !interrupt.came()) {
                tell!("cairn: no more commands are taken: {error}");
            }
        };
        std::thread::Builder::new().name("commands".to_owned()).spawn(run)?;
        tell!("commands are taken at {name}");
        Ok(Some(changes))
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
