//! `cairn repo run`: serves a repository beside any forwarder.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use flow::source::{Reply, Server, ServerConfig, answer_with};
use packet::Name;
use repo::eviction;
use repo::service::{Service, ServiceConfig, ServiceHandle};
use repo::store::metadata_packet;
use repo::{Answer, Event};

use super::commands::{Commander, Trust};
use super::folder::FolderArguments;
use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
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
    /// Who is evicted.
    #[arg(long, value_name = "POLICY", value_parser = eviction::NAMES, default_value = "delete-queue")]
    eviction: String,
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
        if let Some(policy) = eviction::by_name(&self.eviction) {
            store.set_eviction(policy);
        }
        let (objects, bytes) = (store.catalogue().len(), store.bytes());
        let service = Service::start(store, ServiceConfig::default(), Arc::new(|_, _| ()))?;
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
        self.take_commands(&service, &interrupt)?;
        tell!(
            "serving {objects} objects, {}, from {}",
            show_size(bytes as f64),
            self.folder.path().display()
        );
        let handle = service.handle();
        let source = answer_with(move |interest| Ok(answer(&handle, interest)));
        let mut server = Server::new(source, ServerConfig::default(), client.now());
        let served = serve_until(&mut client, &mut server, &interrupt, |_, _| true);
        let store = service.stop();
        served?;
        let mut store = store.ok_or_else(|| ToolError::other("the repository's thread has failed"))?;
        while let Some(Event::Corrupt(name)) = store.poll_event() {
            tell!("cairn: {name} was not as it had been written, and was dropped");
        }
        let (packets, bytes) = (server.counters().data, server.counters().content_bytes);
        tell!("served {packets} packets, {}", show_size(bytes as f64));
        Ok(ExitCode::SUCCESS)
    }
}

impl RunArguments {
    /// Begins to take commands, if there is a name for them.
    fn take_commands(&self, service: &Service, interrupt: &Interrupt) -> Result<(), ToolError> {
        let Some(name) = &self.name else { return Ok(()) };
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
        let commander = Commander::start(client, connect, name.clone(), service.handle(), (signer, trust))?;
        let interrupt = interrupt.clone();
        let run = move || {
            if let Err(error) = commander.run(|| !interrupt.came()) {
                tell!("cairn: no more commands are taken: {error}");
            }
        };
        std::thread::Builder::new().name("commands".to_owned()).spawn(run)?;
        tell!("commands are taken at {name}");
        Ok(())
    }
}

/// What the repository says to an Interest.
pub(super) fn answer(service: &ServiceHandle, interest: &packet::Interest) -> Reply {
    let asked = interest.clone();
    let found = service.call(move |store, now| match store.answer(now, &asked) {
        Some(Answer::Data(data)) => Some(data),
        Some(Answer::Metadata(metadata)) => {
            let prefix = asked.name().prefix(asked.component_count() - 1).to_name();
            metadata_packet(now, &prefix, &metadata).ok()
        }
        None => None,
    });
    found.flatten().map_or(Reply::Silence, Reply::Data)
}
