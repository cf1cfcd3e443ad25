//! `cairn route`: where names lead.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use management::{Command, ControlParameters, Dataset, FibEntry, RibEntry, Route, RouteFlags, RouteOrigin};
use packet::Name;
use packet::time::Duration;
use serde_json::{Value, json};

use super::face;
use crate::tool::face_address::{FaceName, canonical};
use crate::tool::forwarder::{Forwarder, ForwarderArguments};
use crate::tool::units::{duration, show_duration};
use crate::tool::{ToolError, output};

/// See and change the routes of a forwarder: which names lead to which face.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cairn route add /lab udp://router.example.net --cost 10
  cairn route add / 261 --expires 1h
  cairn route list /lab
  cairn route list --next-hops
  cairn route remove /lab 261
  cairn route add /lab 0 --connect udp://router.example.net

A face is given by its number or by the address of its peer; `add` makes a face that does not exist. Number 0 is the face by which this \
command arrives, the only one that a forwarder on another host lets you name.

Exit codes: 0 done; 1 failure, or refused by the forwarder; 2 wrong usage.")]
pub(crate) struct RouteArguments {
    #[command(flatten)]
    pub(crate) forwarder: ForwarderArguments,
    #[command(subcommand)]
    command: RouteCommand,
}

#[derive(Debug, Subcommand)]
enum RouteCommand {
    /// List the routes, or the next hops that follow from them.
    List {
        /// Only routes of exactly this prefix.
        prefix: Option<Name>,
        /// Only routes by this face.
        #[arg(long, value_name = "FACE")]
        face: Option<FaceName>,
        /// Only routes of this origin.
        #[arg(long, value_parser = origin)]
        origin: Option<RouteOrigin>,
        /// Show the forwarding table instead: the next hops that follow from inheritance, costs and origins.
        #[arg(long, conflicts_with = "origin")]
        next_hops: bool,
    },
    /// Add a route, or change the one of the same face and origin.
    Add {
        /// The names that lead there: this and all below it.
        prefix: Name,
        /// The face, by number or by the address of its peer.
        face: FaceName,
        /// The smallest is tried first. Applications register with 0, so with the default they come first.
        #[arg(long, default_value_t = 10)]
        cost: u64,
        /// Who makes the route: app, client, static … or a number.
        #[arg(long, value_parser = origin, default_value = "static")]
        origin: RouteOrigin,
        /// Longer prefixes in the RIB do not inherit this route.
        #[arg(long)]
        no_inherit: bool,
        /// These names do not inherit routes of shorter prefixes.
        #[arg(long)]
        capture: bool,
        /// How long it lasts; without it, as long as the face.
        #[arg(long, value_name = "TIME", value_parser = duration)]
        expires: Option<Duration>,
    },
    /// Remove a route.
    Remove {
        /// The prefix.
        prefix: Name,
        /// The face, by number or by the address of its peer.
        face: FaceName,
        /// Who made the route.
        #[arg(long, value_parser = origin, default_value = "static")]
        origin: RouteOrigin,
    },
}

impl RouteArguments {
    pub(crate) fn run(&self) -> ExitCode {
        self.forwarder.manage(|forwarder| self.run_on(forwarder))
    }

    pub(crate) fn run_on(&self, forwarder: &mut Forwarder) -> Result<(), ToolError> {
        match &self.command {
            RouteCommand::List { prefix, face, next_hops: true, .. } => {
                list_next_hops(forwarder, prefix.as_ref(), face.as_ref())
            }
            RouteCommand::List { prefix, face, origin, .. } => {
                list(forwarder, prefix.as_ref(), face.as_ref(), *origin)
            }
            RouteCommand::Add { prefix, face, cost, origin, no_inherit, capture, expires } => {
                let inherit = if *no_inherit { RouteFlags::NONE } else { RouteFlags::CHILD_INHERIT };
                let flags = if *capture { inherit.with(RouteFlags::CAPTURE) } else { inherit };
                let parameters = ControlParameters {
                    name: Some(prefix.clone()),
                    face_id: Some(find_or_create(forwarder, face)?),
                    origin: Some(*origin),
                    cost: Some(*cost),
                    flags: Some(flags.0),
                    expiration_period_ms: expires.map(Duration::as_millis),
                    ..Default::default()
                };
                let added = forwarder.command(Command::RibRegister, &parameters)?;
                report(forwarder, "added", &added)
            }
            RouteCommand::Remove { prefix, face, origin } => {
                let parameters = ControlParameters {
                    name: Some(prefix.clone()),
                    face_id: Some(find(forwarder, face)?),
                    origin: Some(*origin),
                    ..Default::default()
                };
                let removed = forwarder.command(Command::RibUnregister, &parameters)?;
                report(forwarder, "removed", &removed)
            }
        }
    }
}

/// The number of a face. A number is taken as it is: the forwarder knows best.
fn find(forwarder: &mut Forwarder, face: &FaceName) -> Result<u64, ToolError> {
    match face {
        FaceName::Id(number) => Ok(*number),
        FaceName::Uri(_) => Ok(face.must_find(forwarder)?.face_id),
    }
}

fn find_or_create(forwarder: &mut Forwarder, face: &FaceName) -> Result<u64, ToolError> {
    let uri = match face {
        FaceName::Id(0) => return Ok(0),
        FaceName::Id(number) => {
            // The forwarder would accept a route by a face that does not exist, and drop it in silence.
            let face = face.find(forwarder)?;
            return face
                .map(|face| face.face_id)
                .ok_or_else(|| ToolError::other(format!("there is no face {number}")));
        }
        FaceName::Uri(uri) => canonical(uri)?,
    };
    let wanted = ControlParameters { uri: Some(uri.clone()), ..Default::default() };
    if let Some(face) = face.find(forwarder)? {
        return Ok(face.face_id);
    }
    let (made, what) = face::create(forwarder, &wanted)?;
    let number =
        made.face_id.ok_or_else(|| ToolError::other("the forwarder does not say which face it made"))?;
    if !forwarder.json {
        output::line(format_args!("face {number} to {uri} {what}"))?;
    }
    Ok(number)
}

fn list(
    forwarder: &mut Forwarder,
    prefix: Option<&Name>,
    face: Option<&FaceName>,
    origin: Option<RouteOrigin>,
) -> Result<(), ToolError> {
    let face = face.map(|face| find(forwarder, face)).transpose()?;
    let mut entries: Vec<RibEntry> = forwarder.list(Dataset::RibList)?;
    for entry in &mut entries {
        entry.routes.retain(|route| {
            face.is_none_or(|face| face == route.face_id)
                && origin.is_none_or(|origin| origin == route.origin)
        });
    }
    entries.retain(|entry| !entry.routes.is_empty() && prefix.is_none_or(|prefix| *prefix == entry.prefix));
    if forwarder.json {
        let all: Vec<Value> = entries.iter().map(entry_json).collect();
        return Ok(output::json(&Value::Array(all))?);
    }
    Ok(print_table(&entries)?)
}

/// The table of `route list`, and of the full status.
pub(in crate::commands) fn print_table(entries: &[RibEntry]) -> std::io::Result<()> {
    let row = |entry: &RibEntry, route: &Route| {
        vec![
            entry.prefix.as_ref().to_string(),
            route.face_id.to_string(),
            route.origin.to_string(),
            route.cost.to_string(),
            route.flags.words().collect::<Vec<_>>().join(","),
            expiry(route.expiration_period_ms),
        ]
    };
    let rows: Vec<Vec<String>> =
        entries.iter().flat_map(|entry| entry.routes.iter().map(move |route| row(entry, route))).collect();
    output::table(&["prefix", "face", "origin", "cost", "flags", "expires"], &rows)
}

fn expiry(ms: Option<u64>) -> String {
    ms.map_or_else(|| "never".to_owned(), |ms| format!("in {}", show_duration(Duration::from_millis(ms))))
}

/// An entry of the RIB as JSON.
pub(in crate::commands) fn entry_json(entry: &RibEntry) -> Value {
    let routes = entry.routes.iter().map(|route| {
        json!({
            "face_id": route.face_id,
            "origin": route.origin.to_string(),
            "cost": route.cost,
            "flags": route.flags.words().collect::<Vec<_>>(),
            "expires_in_ms": route.expiration_period_ms,
        })
    });
    json!({ "prefix": entry.prefix.as_ref().to_string(), "routes": routes.collect::<Vec<_>>() })
}

fn list_next_hops(
    forwarder: &mut Forwarder,
    prefix: Option<&Name>,
    face: Option<&FaceName>,
) -> Result<(), ToolError> {
    let face = face.map(|face| find(forwarder, face)).transpose()?;
    let mut entries: Vec<FibEntry> = forwarder.list(Dataset::FibList)?;
    for entry in &mut entries {
        entry.next_hops.retain(|hop| face.is_none_or(|face| face == hop.face_id));
    }
    entries
        .retain(|entry| !entry.next_hops.is_empty() && prefix.is_none_or(|prefix| *prefix == entry.prefix));
    if forwarder.json {
        let all: Vec<Value> = entries.iter().map(next_hops_json).collect();
        return Ok(output::json(&Value::Array(all))?);
    }
    Ok(print_next_hops(&entries)?)
}

/// The table of `route list --next-hops`, and of the full status.
pub(in crate::commands) fn print_next_hops(entries: &[FibEntry]) -> std::io::Result<()> {
    let hops = |entry: &FibEntry| {
        let hops: Vec<String> =
            entry.next_hops.iter().map(|hop| format!("{} (cost {})", hop.face_id, hop.cost)).collect();
        hops.join(", ")
    };
    let rows: Vec<Vec<String>> =
        entries.iter().map(|entry| vec![entry.prefix.as_ref().to_string(), hops(entry)]).collect();
    output::table(&["prefix", "next hops"], &rows)
}

/// An entry of the forwarding table as JSON.
pub(in crate::commands) fn next_hops_json(entry: &FibEntry) -> Value {
    let hops = entry.next_hops.iter().map(|hop| json!({ "face_id": hop.face_id, "cost": hop.cost }));
    json!({ "prefix": entry.prefix.as_ref().to_string(), "next_hops": hops.collect::<Vec<_>>() })
}

fn report(forwarder: &Forwarder, what: &str, route: &ControlParameters) -> Result<(), ToolError> {
    let prefix = route.name.as_ref().map_or_else(String::new, |name| name.as_ref().to_string());
    let face = route.face_id.unwrap_or_default();
    let origin = route.origin.map(|origin| origin.to_string());
    if forwarder.json {
        return Ok(output::json(&json!({
            "result": what,
            "prefix": prefix,
            "face_id": face,
            "origin": origin,
            "cost": route.cost,
            "flags": route.flags.map(|flags| RouteFlags(flags).words().collect::<Vec<_>>()),
            "expires_in_ms": route.expiration_period_ms,
        }))?);
    }
    let cost = route.cost.map_or_else(String::new, |cost| format!(", cost {cost}"));
    let expires =
        route.expiration_period_ms.map_or_else(String::new, |ms| format!(", expires {}", expiry(Some(ms))));
    let origin = origin.unwrap_or_default();
    Ok(output::line(format_args!("route {prefix} by face {face} {what} (origin {origin}{cost}{expires})"))?)
}

fn origin(text: &str) -> Result<RouteOrigin, String> {
    RouteOrigin::from_word(text).or_else(|| text.parse().ok().map(RouteOrigin::from_number)).ok_or_else(
        || {
            let words: Vec<String> = RouteOrigin::KNOWN.iter().map(ToString::to_string).collect();
            format!("use one of {}, or a number", words.join(", "))
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_word_or_a_number() {
        assert_eq!(origin("static"), Ok(RouteOrigin::Static));
        assert_eq!(origin("65"), Ok(RouteOrigin::Client));
        assert_eq!(origin("7"), Ok(RouteOrigin::Unknown(7)));
        assert!(origin("me").unwrap_err().contains("autoreg"));
    }

    #[test]
    fn times_are_shown_in_words() {
        assert_eq!(expiry(None), "never");
        assert_eq!(expiry(Some(60_000)), "in 60 s");
    }
}
