//! The forwarder of the ndnd project: faces, routes and strategies through the management protocol.

use std::path::PathBuf;

use ::management::{Command, ControlParameters};
use packet::ndn::PORT;

use super::{Driver, DriverError, Launch, Manager, Setup, version_of};
use crate::experiment::plan::LinkKind;

/// Starts `ndnd fw run`.
#[derive(Debug)]
pub struct Ndnd {
    program: PathBuf,
}

impl Ndnd {
    /// With this program.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Ndnd { program }
    }

    fn unable(what: &str, instead: &str) -> DriverError {
        DriverError::Unable { software: "ndnd", what: what.to_owned(), instead: instead.to_owned() }
    }
}

fn configuration(setup: &Setup<'_>) -> String {
    let socket = setup.socket.display();
    let store = setup.plan.nodes.get(setup.node).and_then(|node| node.forwarder.content_store);
    let capacity = store.unwrap_or(1024);
    let on = capacity > 0;
    format!(
        "core:\n  log_level: WARN\nfaces:\n  udp:\n    enabled_unicast: true\n    enabled_multicast: false\n    \
         port_unicast: {PORT}\n  tcp:\n    enabled: true\n    port_unicast: {PORT}\n  unix:\n    enabled: true\n    \
         socket_path: {socket}\n  websocket:\n    enabled: false\nfw:\n  threads: 1\ntables:\n  content_store:\n    \
         capacity: {capacity}\n    admit: {on}\n    serve: {on}\n"
    )
}

impl Driver for Ndnd {
    fn name(&self) -> &'static str {
        "ndnd"
    }

    fn version(&self) -> String {
        version_of(&self.program, "--version")
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Launch, DriverError> {
        if !setup.impaired.is_empty() {
            return Err(Ndnd::unable(
                "make the delay or loss of a link, and this kernel has no netem",
                "take `delay` and `loss` away, or use software = \"cairn\"",
            ));
        }
        let forwarder = setup.plan.nodes.get(setup.node).map(|node| &node.forwarder);
        if forwarder.is_some_and(|forwarder| {
            forwarder.pending_limit.is_some()
                || forwarder.pending_limit_per_face.is_some()
                || forwarder.face_rate_limit.is_some()
        }) {
            return Err(Ndnd::unable("limit pending Interests or rates", "take these settings away"));
        }
        if forwarder.is_some_and(|forwarder| forwarder.content_store_bytes.is_some()) {
            return Err(Ndnd::unable("limit the bytes of its content store", "write `content_store`"));
        }
        let is_elsewhere = |placement: &String| placement != "everywhere";
        if forwarder.is_some_and(|forwarder| forwarder.placement.as_ref().is_some_and(is_elsewhere)) {
            return Err(Ndnd::unable("choose which Data it caches", "take `placement` away"));
        }
        let file = setup.folder.join("forwarder.yml");
        std::fs::write(&file, configuration(setup)).map_err(|source| DriverError::Configuration {
            node: setup.plan.node_name(setup.node).to_owned(),
            source,
        })?;
        let arguments = ["fw".into(), "run".into(), file.into_os_string()];
        let environment = vec![("GOMAXPROCS".into(), "2".into())];
        Ok(Launch { program: self.program.clone(), arguments: arguments.to_vec(), environment })
    }

    fn connect(&self, setup: &Setup<'_>, manager: &mut Manager) -> Result<(), DriverError> {
        let node = setup.plan.node_name(setup.node).to_owned();
        let failed = |source| DriverError::Management { node: node.clone(), source: Box::new(source) };
        for interface in setup.interfaces {
            let Some(link) = setup.plan.links.get(interface.link) else { continue };
            let hops: Vec<_> = setup
                .plan
                .routing
                .hops
                .iter()
                .filter(|hop| hop.node == setup.node && hop.link == interface.link)
                .collect();
            if hops.is_empty() {
                continue;
            }
            if link.kind == LinkKind::Ether {
                return Err(Ndnd::unable("use Ethernet links", "write kind = \"udp\""));
            }
            for hop in hops {
                let uri = setup.towards(interface, hop).face_uri(link.kind, packet::Dialect::Ndn);
                let wanted = ControlParameters { uri: Some(uri), ..ControlParameters::default() };
                let face = manager.command(Command::FacesCreate, &wanted).map_err(failed)?;
                let name = hop.prefix.parse().map_err(|error| DriverError::Prefix {
                    node: node.clone(),
                    prefix: hop.prefix.clone(),
                    error,
                })?;
                let route = ControlParameters {
                    name: Some(name),
                    face_id: face.face_id,
                    cost: Some(u64::from(hop.cost)),
                    ..ControlParameters::default()
                };
                manager.command(Command::RibRegister, &route).map_err(failed)?;
            }
        }
        Ok(())
    }
}
