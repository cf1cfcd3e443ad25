//! Routes that nodes ask their neighbours for, with their defaults filled in and their names looked up.

use crate::experiment::model::{self, File};
use crate::experiment::plan::{
    Activity, Hop, LinkIndex, LinkPlan, Links, NodeIndex, RegistrationKey, RegistrationPlan, Registrations,
    Response, Workload,
};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;

/// Where a forwarder takes commands of its neighbours.
pub(crate) const MANAGEMENT: &str = "/localhop/nfd";

/// A mistake in who may register routes.
pub(super) fn accepted(key: &str, forwarder: Option<&model::Forwarder>, f: &mut Findings) {
    if let Some(given) = forwarder.and_then(|forwarder| forwarder.registrations.as_deref()) {
        f.word(&format!("{key}.forwarder.registrations"), given, &Registrations::WORDS);
    }
}

/// The next hops by which commands reach the neighbours that they are for.
pub(super) fn hops(file: &File, names: &[&str], links: &Links) -> Vec<Hop> {
    let mut hops: Vec<Hop> = Vec::new();
    for Request { at: node, link, .. } in requests(file, names, links) {
        let hop = Hop { prefix: MANAGEMENT.to_owned(), node, link, behind: None, cost: 1 };
        if !hops.contains(&hop) {
            hops.push(hop);
        }
    }
    hops
}

/// The next hops that neighbours have if they take all registrations.
pub(super) fn wanted(file: &File, names: &[&str], links: &Links) -> Vec<Hop> {
    let hop = |Request { given, link, to, .. }: Request<'_>| {
        let cost = given.cost.unwrap_or(0);
        Hop { prefix: given.prefix.clone(), node: to, link, behind: None, cost }
    };
    requests(file, names, links).map(hop).collect()
}

/// A registration with its places: who asks, by which link, and who is asked.
struct Request<'a> {
    given: &'a model::Registration,
    at: NodeIndex,
    link: LinkIndex,
    to: NodeIndex,
}

fn requests<'a>(file: &'a File, names: &'a [&str], links: &'a Links) -> impl Iterator<Item = Request<'a>> {
    let place = |name: &str| names.iter().position(|other| *other == name).map(NodeIndex);
    file.registration.values().filter_map(move |given| {
        let (at, to) = place(&given.at).zip(place(&given.to))?;
        let joins = |link: &LinkPlan| at != to && joins_alone(link, at, to);
        Some(Request { given, at, link: links.position(joins)?, to })
    })
}

/// On a link that others share a command would reach them, too.
fn joins_alone(link: &LinkPlan, at: NodeIndex, to: NodeIndex) -> bool {
    link.shared.is_none() && link.joins(at) && link.joins(to)
}

/// The workloads that ask.
pub(super) fn workloads(file: &File, nodes: &[&str], links: &Links, f: &mut Findings) -> Vec<Workload> {
    file.registration
        .iter()
        .filter_map(|(name, given)| registration(file, name, given, nodes, links, f))
        .collect()
}

fn registration(
    file: &File,
    name: &str,
    given: &model::Registration,
    nodes: &[&str],
    links: &Links,
    f: &mut Findings,
) -> Option<Workload> {
    let key = format!("registration.{name}");
    if file.software.is_some() || file.dialect.as_deref().is_some_and(|dialect| dialect != "ndn") {
        let hint = Some("leave out `software` and `dialect`".to_owned());
        f.add(&key, "only Cairn takes registrations here, in NDN", hint);
    }
    f.prefix(&format!("{key}.prefix"), &given.prefix);
    let at = f.node(&format!("{key}.at"), &given.at, nodes);
    let to = f.node(&format!("{key}.to"), &given.to, nodes);
    let (at, to) = (at?, to?);
    if at == to || !links.iter().any(|link| joins_alone(link, at, to)) {
        let message =
            format!("`{}` is no neighbour of `{}`: no link joins these two alone", given.to, given.at);
        f.add(format!("{key}.to"), message, Some(suggest(&given.to, nodes)));
    }
    let prefix = given.prefix.trim_end_matches('/').to_owned();
    let own = format!("/{}", given.at);
    let keys = [
        ("none", (RegistrationKey::None, &own)),
        ("own", (RegistrationKey::Trusted, &own)),
        ("owner", (RegistrationKey::Trusted, &prefix)),
        ("forged", (RegistrationKey::Forged, &prefix)),
        ("stolen", (RegistrationKey::Stolen, &prefix)),
        ("replayed", (RegistrationKey::Replayed(owners_start(file, &prefix)), &prefix)),
    ];
    let signed = f.word(&format!("{key}.key"), given.key.as_deref().unwrap_or("none"), &keys);
    let answers =
        [("content", Response::Content), ("nothing", Response::Nothing), ("forged", Response::Forged)];
    let word = given.answers.as_deref().unwrap_or("content");
    let answers = f.word(&format!("{key}.answers"), word, &answers)?;
    let (signs, identity) = signed?;
    if signs == RegistrationKey::Stolen && !is_signed(file, &prefix) {
        let hint = Some("write key = \"owner\" for that content".to_owned());
        f.add(format!("{key}.key"), "no content with this prefix is signed by its owner", hint);
    }
    let identity = identity.clone();
    let does = Activity::Register(RegistrationPlan {
        to,
        prefix,
        cost: given.cost.unwrap_or(0),
        key: signs,
        identity,
        answers,
        attempts: given.attempts.unwrap_or(3),
    });
    Some(Workload {
        name: name.to_owned(),
        at,
        start_ns: start_of(given),
        stop_ns: file.duration.0,
        does,
        part_of: None,
    })
}

fn start_of(given: &model::Registration) -> u64 {
    given.start.map_or(500_000_000, |span| span.0)
}

/// When the owner of a prefix asks for its route; at once if it never does.
fn owners_start(file: &File, prefix: &str) -> u64 {
    let is_owner = |given: &&model::Registration| {
        given.key.as_deref() == Some("owner") && given.prefix.trim_end_matches('/') == prefix
    };
    file.registration.values().find(is_owner).map_or(0, start_of)
}

/// Whether the owner of a prefix signs its content.
fn is_signed(file: &File, prefix: &str) -> bool {
    let signed = |content: &model::Content| content.key.as_deref() == Some("owner");
    file.content.values().any(|content| content.prefix.trim_end_matches('/') == prefix && signed(content))
}
