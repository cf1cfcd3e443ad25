//! A network that stays: forwarders and links without workloads, until somebody takes it down.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use super::world::{World, WorldError, io_error, socket, step};
use crate::driver::driver;
use crate::experiment::plan::{Arena, NodeIndex, Software};
use crate::live::{LIVE_NETWORK_FILE, LiveLink, LiveNetwork, LiveNode};
use crate::order::{Event, Request, write_json};

/// How long the world listens before it looks after its forwarders.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

impl World<'_> {
    /// Builds the network, and does what is asked for until it shall go.
    pub(super) fn stay(&mut self, requests: &Receiver<Request>) -> Result<(), WorldError> {
        step("network");
        self.network()?;
        step("forwarders");
        if self.plan().software != Software::None {
            let software = driver(self.plan().software, self.programs())?;
            self.start_forwarders(software.as_ref())?;
        }
        self.start_servers()?;
        self.describe()?;
        Event::Up.say();
        let mut told = Arena::filled(&self.plan().nodes, false);
        loop {
            match requests.recv_timeout(CHECK_INTERVAL) {
                Ok(Request::Change(change)) => {
                    let refused = self.change(change).err().map(|error| error.to_string());
                    // A forwarder that starts anew may end again, and is another process.
                    told.fill(false);
                    self.describe()?;
                    Event::Changed { refused }.say();
                }
                Ok(Request::Down) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.look_after(&mut told);
        }
        self.stop_forwarders();
        Ok(())
    }

    /// Tells once of every forwarder that has ended. The others go on.
    fn look_after(&mut self, told: &mut Arena<NodeIndex, bool>) {
        let mut ended = Vec::new();
        for (node, forwarder) in &mut self.forwarders {
            let told = told.get_mut(*node).filter(|told| !**told);
            if let (Some(told), Ok(Some(status))) = (told, forwarder.child.try_wait()) {
                *told = true;
                ended.push((*node, status));
            }
        }
        for (node, status) in ended {
            let name = self.plan().node_name(node);
            let text = format!("The forwarder of `{name}` has ended with {status}.");
            Event::Note { text }.say();
        }
    }

    /// Writes down what whoever enters must know.
    fn describe(&self) -> Result<(), WorldError> {
        let forwarder = |index: NodeIndex, node| Some((index, node, self.forwarders.get(&index)?));
        let nodes = self.plan().nodes.indexed().filter_map(|(index, node)| forwarder(index, node));
        let nodes = nodes.map(|(index, node, forwarder)| LiveNode {
            index,
            name: node.name.clone(),
            process: forwarder.pid.load(Ordering::Relaxed),
            socket: socket(&node.name),
            addresses: self
                .wiring
                .interfaces
                .get(&index)
                .into_iter()
                .flatten()
                .map(|interface| (interface.name.clone(), interface.local))
                .collect(),
        });
        let links = self.plan().links.iter().map(|link| LiveLink {
            name: link.name.clone(),
            between: link.between.map(|node| self.plan().node_name(node).to_owned()),
        });
        let network =
            LiveNetwork { title: self.plan().title.clone(), nodes: nodes.collect(), links: links.collect() };
        let file = self.folder.join(LIVE_NETWORK_FILE);
        write_json(&file, &network).map_err(io_error("the network cannot be written down"))
    }
}
