//! Ties: what happens to one node, or comes to one shared link, at one instant from different causes.

use crate::arena::{ChannelId, EndId, FramedId, Id};
use crate::core::Core;
use crate::events::queue::EventSource;
use crate::events::simultaneous::Cause;

impl Core {
    /// Something else happens at the present instant, and there was no tie so far.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_simultaneous(&mut self, source: EventSource) {
        if let Some(first) = self.ties.take_first() {
            self.touch_by(first);
        }
        self.touch_by(source);
    }

    /// Something is put on a link from this end. On a shared one it may meet what another end sends.
    #[inline(always)]
    pub(crate) fn note_sending(&mut self, number: ChannelId, end: EndId) {
        let channel = &mut self.channels[number];
        if channel.is_shared {
            self.ties.any |= channel.meets_another(self.now, end);
        }
    }

    fn touch_by(&mut self, source: EventSource) {
        match source {
            EventSource::Channel(channel) => self.touch_ends(channel, false),
            EventSource::Departure(channel) => self.touch_ends(channel, true),
            EventSource::Engine(node) | EventSource::Processor(node) => {
                self.ties.touch(node, Cause::Node(node));
            }
            EventSource::Application(application) => {
                let node = self.attachments[application].node;
                self.ties.touch(node, Cause::Application(application));
            }
            EventSource::Held(place) => {
                if let Some(held) = self.held.get(place) {
                    self.touch_ends(held.channel, true);
                }
            }
            EventSource::Framed(framed) => self.touch_framed(framed),
            // It may change anything.
            EventSource::Plan(_) => self.ties.any = true,
        }
    }

    /// Something of the sender of a channel comes to all other ends of its link, and to the sender itself
    /// where that is asked for, or there are link services or a link that several share.
    fn touch_ends(&mut self, number: ChannelId, and_sender: bool) {
        let channel = &self.channels[number];
        let link = &self.links[channel.link];
        let Some(sender) = link.ends.get(channel.end.index()) else { return };
        let (cause, all) =
            (Cause::Node(sender.node), and_sender || channel.is_shared || channel.framed.is_some());
        for (place, end) in (0..).map(EndId).zip(&link.ends) {
            if all || place != channel.end {
                self.ties.touch(end.node, cause);
            }
        }
    }

    fn touch_framed(&mut self, number: FramedId) {
        let link = &self.links[self.framed[number].link];
        let Some(first) = link.ends.first() else { return };
        for end in &link.ends {
            self.ties.touch(end.node, Cause::Node(first.node));
        }
    }
}
