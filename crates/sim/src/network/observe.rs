//! Looking at a network.

use std::any::Any;

use engine::{Engine, FaceId};
use packet::time::Instant;

use crate::application::{Application, Consumer, ConsumerReport};
use crate::arena::{AppId, LinkId, NodeId};
use crate::error::SimError;
use crate::link::{ChannelCounters, LinkConfig};
use crate::network::Network;
use crate::occupancy::Occupancy;
use crate::trace::Trace;

impl Network {
    /// The time.
    pub fn now(&self) -> Instant {
        self.core.now
    }

    /// Nodes and hosts; they are numbered from zero.
    pub fn node_count(&self) -> usize {
        self.core.nodes.len()
    }

    /// Links; they are numbered from zero.
    pub fn link_count(&self) -> usize {
        self.core.links.len()
    }

    /// All nodes and hosts.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        self.core.nodes.ids()
    }

    /// All links.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        self.core.links.ids()
    }

    /// The nodes that a link joins.
    ///
    /// # Errors
    /// No such link.
    pub fn ends(&self, link: LinkId) -> Result<Vec<NodeId>, SimError> {
        Ok(self.link(link)?.ends.iter().map(|end| end.node).collect())
    }

    /// Whether a link is up.
    ///
    /// # Errors
    /// No such link.
    pub fn is_up(&self, link: LinkId) -> Result<bool, SimError> {
        Ok(self.link(link)?.is_up)
    }

    /// How a link behaves at present.
    ///
    /// # Errors
    /// No such link.
    pub fn link_config(&self, link: LinkId) -> Result<&LinkConfig, SimError> {
        Ok(&self.link(link)?.config)
    }

    /// What went through each direction of a link, in the order of its ends; through all of it, if it is
    /// shared.
    ///
    /// # Errors
    /// No such link.
    pub fn link_counters(&self, link: LinkId) -> Result<Vec<ChannelCounters>, SimError> {
        let channels = self.link(link)?.channels.iter();
        Ok(channels.map(|&channel| self.core.channels[channel].counters).collect())
    }

    /// The engine of a node; `None` for a host, or if there is no such node.
    pub fn engine(&self, node: NodeId) -> Option<&Engine> {
        self.core.nodes.get(node)?.engine.as_deref()
    }

    /// Packets that the processor of a node dropped, and how long it was busy.
    pub fn processor_use(&self, node: NodeId) -> Option<(u64, packet::time::Duration)> {
        let processor = self.core.nodes.get(node)?.processor.as_ref()?;
        Some((processor.dropped, processor.busy))
    }

    /// How full the tables of a node were since this was asked last; `None` for a host, or if there is no
    /// such node. Every change counts from the moment at which it happened.
    pub fn take_occupancy(&mut self, node: NodeId) -> Option<Occupancy> {
        let now = self.core.now;
        let node = self.core.nodes.get_mut(node)?;
        node.engine.as_ref()?;
        Some(node.levels.look(now))
    }

    /// An application, if it is of this type.
    pub fn application<A: Application>(&self, application: AppId) -> Option<&A> {
        let application: &dyn Any = &**self.applications.get(application)?;
        application.downcast_ref()
    }

    /// An application, if it is of this type, to be changed.
    pub fn application_mut<A: Application>(&mut self, application: AppId) -> Option<&mut A> {
        let application: &mut dyn Any = &mut **self.applications.get_mut(application)?;
        application.downcast_mut()
    }

    /// All applications of a type.
    pub fn applications<A: Application>(&self) -> impl Iterator<Item = (AppId, &A)> {
        self.applications.ids().filter_map(|id| Some((id, self.application(id)?)))
    }

    /// What a [`Consumer`] has done.
    pub fn consumer(&self, application: AppId) -> Option<&ConsumerReport> {
        self.application::<Consumer>(application).map(Consumer::report)
    }

    /// The node of an application.
    pub fn home(&self, application: AppId) -> Option<NodeId> {
        self.core.attachments.get(application).map(|attachment| attachment.node)
    }

    /// The face of a node that leads to an application on it.
    pub fn application_face(&self, application: AppId) -> Option<FaceId> {
        self.core.attachments.get(application).map(|attachment| attachment.face)
    }

    /// The face that leads from a node by the first link to another.
    ///
    /// # Errors
    /// No such link.
    pub fn face_towards(&self, node: NodeId, towards: NodeId) -> Result<FaceId, SimError> {
        self.face_and_dialect_towards(node, towards).map(|(face, _)| face)
    }

    /// What has happened.
    pub fn trace(&self) -> &Trace {
        &self.core.trace
    }

    /// Packets and frames that crossed a link: an Interest or a Data over one link is one.
    pub fn hops(&self) -> u64 {
        self.core.hops
    }

    /// Packets under way or waiting in queues.
    pub fn packets_under_way(&self) -> usize {
        self.core.in_flight.in_use()
    }
}
