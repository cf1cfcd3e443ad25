//! Changing a network while time passes: plans, links that fail, nodes that restart, recording.

use engine::Engine;
use link::FrameTap;
use packet::random::Random;
use packet::time::Instant;

use crate::application::{Application, Context};
use crate::arena::{AppId, EndId, Id, LinkId, NodeId, PlanId};
use crate::core::End;
use crate::error::SimError;
use crate::events::queue::EventSource;
use crate::link::LinkConfig;
use crate::network::{Network, Plan};
use crate::node::Peer;
use crate::node::processor::QueuedPacket;
use crate::trace::{Capture, TraceConfig};

impl Network {
    /// Plans something for a time; times that have passed mean as soon as possible.
    ///
    /// ```
    /// use packet::time::{Duration, Instant};
    /// use cairn_sim::{LinkConfig, Network};
    ///
    /// let mut network = Network::new(1);
    /// let nodes = network.add_nodes(2)?;
    /// let link = network.connect(nodes[0], nodes[1], &LinkConfig::ideal())?;
    /// network.at(Instant::from_secs(5), move |network| drop(network.take_down(link)));
    /// network.run_for(Duration::from_secs(10))?;
    /// assert!(!network.is_up(link)?);
    /// # Ok::<(), cairn_sim::SimError>(())
    /// ```
    pub fn at(&mut self, time: Instant, action: impl FnOnce(&mut Network) + Send + 'static) {
        self.plan(time, Plan::Action(Box::new(action)));
    }

    pub(crate) fn plan(&mut self, time: Instant, plan: Plan) {
        let number = PlanId(self.next_plan);
        self.next_plan = self.next_plan.wrapping_add(1);
        self.plans.insert(number, plan);
        let rank = self.core.order.of_owner();
        self.core.queue.plan(time.max(self.core.now), rank, EventSource::Plan(number));
    }

    pub(crate) fn carry_out(&mut self, number: PlanId) {
        match self.plans.remove(&number) {
            Some(Plan::Action(action)) => action(self),
            Some(Plan::Sample) => self.sample_and_go_on(),
            None => {}
        }
    }

    /// Makes a link behave differently towards packets that enter from now on.
    ///
    /// # Errors
    /// No such link.
    pub fn reconfigure(
        &mut self,
        link: LinkId,
        change: impl FnOnce(&mut LinkConfig),
    ) -> Result<(), SimError> {
        let seed = self.link_seed(link).next_u64() ^ self.core.queue.turns();
        let slot = self.core.links.get_mut(link).ok_or(SimError::NoLink(link))?;
        change(&mut slot.config);
        if slot.framed.is_some() {
            slot.config.queue.codel = None;
        }
        let now = self.core.now;
        for (place, &channel) in (1..).zip(&slot.channels) {
            let seed = Random::derive(seed, place).next_u64();
            let orphans = self.core.channels[channel].configure(now, &slot.config, seed);
            for packet_id in orphans {
                self.core.in_flight.release(packet_id);
            }
        }
        let (face, ends) = (slot.config.face_config(), slot.ends.clone());
        for End { node, face: open } in ends {
            if self.core.nodes[node].configure(self.core.now, open, face) {
                self.settle(node);
            }
        }
        Ok(())
    }

    /// Cuts a link: its faces are removed, and what was under way is lost.
    ///
    /// # Errors
    /// No such link.
    pub fn take_down(&mut self, link: LinkId) -> Result<(), SimError> {
        if !self.is_up(link)? {
            return Ok(());
        }
        self.empty_link(link);
        let slot = &mut self.core.links[link];
        slot.is_up = false;
        for &channel in &slot.channels {
            self.core.channels[channel].is_up = false;
        }
        for End { node, face: open } in slot.ends.clone() {
            self.core.nodes[node].close(open);
            self.core.nodes[node].note_levels(self.core.now);
        }
        Ok(())
    }

    /// Mends a link: it gets new faces, and they get the routes of the old.
    ///
    /// # Errors
    /// No such link.
    pub fn bring_up(&mut self, link: LinkId) -> Result<(), SimError> {
        if self.is_up(link)? {
            return Ok(());
        }
        let now = self.core.now;
        let slot = &mut self.core.links[link];
        slot.is_up = true;
        for &channel in &slot.channels {
            self.core.channels[channel].is_up = true;
        }
        for place in 0..slot.ends.len() {
            let end = EndId::from_index(place);
            let Some(channel) = slot.channel_from(end) else { continue };
            let End { node, face } = slot.ends[place];
            let peer = Peer::Channel { channel, end };
            slot.ends[place].face = self.core.nodes[node].reopen(now, face, peer);
        }
        for End { node, .. } in self.core.links[link].ends.clone() {
            self.settle(node);
        }
        Ok(())
    }

    /// Stops a node and starts it again with its configuration, routes and strategies and nothing else. Its
    /// links lose what was under way; its applications notice nothing.
    ///
    /// # Errors
    /// No such node.
    pub fn restart(&mut self, node: NodeId) -> Result<(), SimError> {
        self.node(node)?;
        for link in self.core.links.ids() {
            if self.core.links[link].ends.iter().any(|end| end.node == node) {
                self.empty_link(link);
            }
        }
        let now = self.core.now;
        let slot = &mut self.core.nodes[node];
        let waiting = slot.processor.as_mut().map(|processor| processor.restart(now));
        for QueuedPacket { packet, .. } in waiting.into_iter().flatten() {
            self.core.in_flight.release(packet);
        }
        slot.restart(now)
    }

    fn empty_link(&mut self, link: LinkId) {
        for channel in self.core.links[link].channels.clone() {
            for lost in self.core.channels[channel].clear(self.core.now) {
                self.core.in_flight.discard(lost);
            }
        }
        if let Some(framed) = self.core.links[link].framed {
            self.core.framed[framed].reset();
        }
    }

    /// Changes the engine of a node; `None` if it has none. Do not give it packets.
    pub fn change_engine<R>(&mut self, node: NodeId, change: impl FnOnce(&mut Engine) -> R) -> Option<R> {
        let result = change(self.core.nodes.get_mut(node)?.engine.as_deref_mut()?);
        self.settle(node);
        Some(result)
    }

    /// Records what happens from now on, besides the hash.
    pub fn record(&mut self, config: TraceConfig) {
        let first = config.sample_every;
        self.core.trace.configure(config);
        if let Some(span) = first {
            self.plan(self.core.now + span, Plan::Sample);
        }
    }

    /// What was recorded so far, to take records out.
    pub fn trace_mut(&mut self) -> &mut crate::Trace {
        &mut self.core.trace
    }

    /// Keeps the frames of a link, up to so many, for a capture file.
    ///
    /// # Errors
    /// No such link.
    pub fn capture(&mut self, link: LinkId, max_frames: usize) -> Result<(), SimError> {
        self.is_up(link)?;
        self.core.trace.captures.retain(|capture| capture.link() != link);
        self.core.trace.captures.push(Capture::new(link, max_frames));
        Ok(())
    }

    /// Has a tap see all frames that a node sends and receives by a link, also after the link was cut and
    /// mended. Taps see them in the order in which they were added; what one drops or holds back, those
    /// behind it do not see.
    ///
    /// # Errors
    /// No such link, or the node is at none of its ends.
    pub fn add_tap(
        &mut self,
        link: LinkId,
        node: NodeId,
        tap: Box<dyn FrameTap + Send>,
    ) -> Result<(), SimError> {
        let of_link = self.link(link)?;
        let end = (0..).map(EndId).zip(&of_link.ends).find(|(_, end)| end.node == node);
        let (end, _) = end.ok_or(SimError::NotAtLink(node, link))?;
        for channel in of_link.channels.clone() {
            self.core.channels[channel].is_tapped = true;
        }
        self.core.taps.add((link, end), tap);
        Ok(())
    }

    /// Does something with an application, and with what it may do, now.
    ///
    /// # Errors
    /// No such application.
    pub fn with_application(
        &mut self,
        application: AppId,
        action: impl FnOnce(&mut dyn Application, &mut Context<'_>),
    ) -> Result<(), SimError> {
        if self.applications.get(application).is_none() {
            return Err(SimError::NoApplication(application));
        }
        self.call(application, action);
        Ok(())
    }
}
