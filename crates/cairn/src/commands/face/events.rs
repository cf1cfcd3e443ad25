//! `cairn face events`: what happens to faces, as it happens.

use clap::Args;
use client::Happening;
use management::{FaceEventNotification, NOTIFICATION_LIFETIME, StreamPosition, face_events_name};
use packet::time::Duration;
use serde_json::json;

use crate::tool::ToolError;
use crate::tool::forwarder::Forwarder;
use crate::tool::output;

/// Print what happens to faces, as it happens, until Ctrl-C.
#[derive(Debug, Args)]
pub(super) struct EventArguments {
    /// Stop after so many events.
    #[arg(long, value_name = "NUMBER")]
    count: Option<u64>,
}

/// How long to wait before asking again when the forwarder sends our question back, at first and at most.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(16)];

impl EventArguments {
    pub(super) fn run(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        let mut position = StreamPosition::new(face_events_name()?);
        let mut back_off = BACK_OFF[0];
        let mut printed = 0;
        while self.count.is_none_or(|count| printed < count) {
            let interest = position.interest()?;
            forwarder.client.express(&interest, NOTIFICATION_LIFETIME)?;
            match forwarder.client.next(None)? {
                Some(Happening::Data { data, .. }) => {
                    back_off = BACK_OFF[0];
                    match position.receive(&data).map(|(_, content)| FaceEventNotification::decode(content)) {
                        Some(Ok(event)) => {
                            print(forwarder.json, &event)?;
                            printed += 1;
                        }
                        Some(Err(_)) | None => position.restart(),
                    }
                }
                Some(Happening::Nack { .. }) => {
                    let until = forwarder.client.now() + back_off;
                    forwarder.client.next(Some(until))?;
                    back_off = (back_off * 2).min(BACK_OFF[1]);
                    position.restart();
                }
                // Nothing has happened for a minute: ask again.
                Some(Happening::Timeout { .. } | Happening::Interest { .. }) => {}
                // A signal.
                None => break,
            }
        }
        Ok(())
    }
}

fn print(as_json: bool, event: &FaceEventNotification) -> std::io::Result<()> {
    if as_json {
        // One line for each, so that it can be read as it comes.
        return output::line(json!({
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
    output::line(format_args!(
        "{:<9}  face {}  {}  {}  {} {}",
        event.kind, event.face_id, event.uri, event.local_uri, event.scope, event.persistency
    ))
}
