//! `cairn face events`: what happens to faces, as it happens.

use clap::Args;
use client::Event;
use management::{FaceEventNotification, NOTIFICATION_LIFETIME, StreamPosition, face_events_name};
use packet::DoublingWait;
use packet::time::Duration;
use serde_json::json;

use crate::tool::ToolError;
use crate::tool::forwarder::Forwarder;
use crate::tool::interrupt::Interrupt;
use crate::tool::output;

/// Print what happens to faces, as it happens, until Ctrl-C. The first events may be a second old. A
/// forwarder that goes away is waited for.
#[derive(Debug, Args)]
pub(super) struct EventArguments {
    /// Stop after so many events.
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
}

/// How long to wait before asking again when the forwarder sends our question back.
fn back_off() -> DoublingWait {
    DoublingWait::new(Duration::from_millis(250), Duration::from_secs(16))
}

/// Where in the stream we are.
struct Listening {
    position: StreamPosition,
    /// The number of the last event.
    last: Option<u64>,
    back_off: DoublingWait,
    events_left: u64,
}

impl EventArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut listening = Listening {
            position: StreamPosition::new(face_events_name()?),
            last: None,
            back_off: back_off(),
            events_left: self.count.unwrap_or(u64::MAX),
        };
        while listening.events_left > 0 && !interrupt.came() {
            if let Err(error) = listening.hear_one(forwarder) {
                forwarder.await_return(error, &interrupt)?;
                // It begins with a stream of its own.
                listening.restart();
                listening.last = None;
            }
        }
        Ok(())
    }
}

impl Listening {
    /// Asks for the next event and waits for what comes of it; returns at a signal, too.
    fn hear_one(&mut self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let interest = self.position.interest()?;
        forwarder.client.express(&interest, NOTIFICATION_LIFETIME)?;
        match forwarder.client.next(None)? {
            Some(Event::Data { data, .. }) => {
                self.back_off.begin_anew();
                match self.position.receive(&data) {
                    Some((number, content)) => self.tell(forwarder.json, number, content)?,
                    None => self.restart(),
                }
            }
            Some(Event::Nack { .. }) => {
                let until = forwarder.client.now() + self.back_off.take();
                forwarder.client.next(Some(until))?;
                self.restart();
            }
            // Nothing has happened for a minute; or much has, and the forwarder no longer keeps what comes
            // next.
            Some(Event::Timeout { .. }) => self.restart(),
            Some(Event::Interest { .. } | Event::SourceFailed { .. }) | None => {}
        }
        Ok(())
    }

    fn tell(&mut self, as_json: bool, number: u64, content: &[u8]) -> Result<(), ToolError> {
        if let Some(missed) =
            self.last.and_then(|last| number.checked_sub(last + 1)).filter(|missed| *missed > 0)
        {
            tell!("cairn: {missed} events went by unheard");
        }
        self.last = Some(number);
        match FaceEventNotification::decode(content) {
            Ok(event) => {
                print(as_json, &event)?;
                self.events_left -= 1;
            }
            Err(_) => self.restart(),
        }
        Ok(())
    }

    /// Goes on with whatever comes next.
    fn restart(&mut self) {
        self.position.restart();
    }
}

fn print(as_json: bool, event: &FaceEventNotification) -> std::io::Result<()> {
    if as_json {
        // One line for each, so that it can be read as it comes.
        return output::json_line(&json!({
            "event": event.kind.to_string(),
            "face_id": event.face_id,
            "remote": event.uri,
            "local": event.local_uri,
            "scope": event.scope.to_string(),
            "persistency": event.persistency.to_string(),
            "link": event.link_type.to_string(),
            "flags": event.flags.words().collect::<Vec<_>>(),
        }));
    }
    let (remote, local) = (output::printable(&event.uri), output::printable(&event.local_uri));
    output::line(format_args!(
        "{:<9}  face {}  {remote}  {local}  {} {}",
        event.kind, event.face_id, event.scope, event.persistency
    ))
}
