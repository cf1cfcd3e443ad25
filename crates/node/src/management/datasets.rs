//! How things are: status datasets.

use management::{
    ChannelStatus, CommandScope, ControlResponse, CsInfo, Dataset, Dropped, FRESHNESS, FaceQueryFilter,
    FaceStatus, FibEntry, GeneralStatus, RepositoryTotals, RequestName, RibEntry, StatusCode, StrategyChoice,
    Totals, encode_list, refusal_data, segments,
};
use packet::time::{Duration, Instant};
use packet::{ComponentKind, Interest, Name, Now};

use super::rib::RibRoute;
use super::{MANAGED, NfdManagement, convert};
use crate::control::{FaceUri, NodeControl, NodeStatus};

/// How long a dataset is the latest for each of its segments, at most [`FRESHNESS`]. Large ones take long to
/// make and to fetch, so several who ask at once get the same; a small one costs so little that whoever asks
/// twice sees what has happened in between.
const LATEST_PER_SEGMENT: Duration = Duration::from_millis(10);

impl NfdManagement {
    /// Answers with the first segment of a dataset and keeps the others. Interests for a version or segment
    /// are answered from what was kept, or not at all.
    pub(super) fn handle_dataset(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        interest: &Interest,
        scope: CommandScope,
        dataset: Dataset,
    ) {
        let kept = match scope {
            CommandScope::Localhost => self.datasets.find(now.instant, interest),
            // A neighbour who changes something and asks how things are, again and again, does not have the
            // whole list of routes made each time.
            CommandScope::Localhop => self.datasets.find_recent(now.instant, interest),
        };
        if let Some(data) = kept.cloned() {
            self.outgoing.push_back(data);
            return;
        }
        let name = interest.name();
        let wants_a_past_one = name.last().is_some_and(|last| {
            matches!(last.kind, ComponentKind::VERSION | ComponentKind::SEGMENT) && last.number().is_some()
        });
        if wants_a_past_one {
            self.counters.unanswered += 1;
            return;
        }
        match self.content(now, node, interest, dataset) {
            Ok(content) => self.publish(now, &name.to_name(), &content),
            Err(refusal) => self.send(&refusal_data(name.to_name(), &refusal)),
        }
    }

    fn publish(&mut self, now: Now, name: &Name, content: &[u8]) {
        // Two datasets made within a millisecond must still be told apart.
        let version = now.unix.as_millis().max(self.last_version + 1);
        let Ok(segments) = segments(name, version, content) else { return };
        let built: Result<Vec<_>, _> = segments.iter().map(|segment| segment.build_with_digest()).collect();
        // A name that leaves no room for content.
        let Ok(packets) = built else {
            self.counters.unanswered += 1;
            return;
        };
        self.last_version = version;
        self.counters.datasets += 1;
        self.outgoing.extend(packets.first().cloned());
        let latest_for = (LATEST_PER_SEGMENT * packets.len() as u64).min(FRESHNESS);
        self.datasets.insert(now.instant + latest_for, packets);
    }

    fn content(
        &self,
        now: Now,
        node: &mut dyn NodeControl,
        interest: &Interest,
        dataset: Dataset,
    ) -> Result<Vec<u8>, ControlResponse> {
        Ok(match dataset {
            Dataset::StatusGeneral => self.general(now, node).encode(),
            Dataset::FacesList => encode_list(&faces(node)),
            Dataset::FacesQuery => {
                let filter = RequestName::parse(interest.name())
                    .and_then(|name| name.parameter())
                    .and_then(|component| FaceQueryFilter::decode(component.value).ok())
                    .ok_or_else(|| ControlResponse::error(StatusCode::BadParameters, "Malformed filter"))?;
                // However the address was written: with the number of an interface, say, instead of its name.
                let canonical = |uri: String| uri.parse::<FaceUri>().map_or(uri, |uri| uri.to_string());
                let (uri, local_uri) = (filter.uri.map(canonical), filter.local_uri.map(canonical));
                let filter = FaceQueryFilter { uri, local_uri, ..filter };
                let mut faces = faces(node);
                faces.retain(|face| filter.matches(face));
                encode_list(&faces)
            }
            Dataset::FacesChannels => {
                let channels = node.channels();
                let channels: Vec<_> =
                    channels.iter().map(|uri| ChannelStatus { local_uri: uri.to_string() }).collect();
                encode_list(&channels)
            }
            Dataset::FibList => encode_list(&fib(node)),
            Dataset::RibList => encode_list(&self.rib_entries(now.instant)),
            Dataset::CsInfo => encode_list(&[content_store(node)]),
            Dataset::StrategyList => encode_list(&strategies(node)),
        })
    }

    /// There is no tree of names here: what counts for it are the prefixes and names that tables hold.
    /// Measurements are not counted.
    fn general(&self, now: Now, node: &mut dyn NodeControl) -> GeneralStatus {
        let status = node.status();
        let tables = &status.tables;
        let totals = Totals {
            rib_routes: self.rib.route_count() as u64,
            rib_bytes: self.rib.bytes() as u64,
            ..totals(&status)
        };
        GeneralStatus {
            start_timestamp_ms: status.started_unix.as_millis(),
            current_timestamp_ms: now.unix.as_millis(),
            name_tree_entries: u64::from(tables.routes) + u64::from(tables.pending),
            fib_entries: tables.routes.into(),
            pit_entries: tables.pending.into(),
            measurements_entries: 0,
            cs_entries: tables.cached.into(),
            packets: status.packets,
            satisfied_interests: status.engine.satisfied,
            unsatisfied_interests: status.engine.unsatisfied,
            version: status.version,
            totals: Some(totals),
        }
    }

    fn rib_entries(&self, now: Instant) -> Vec<RibEntry> {
        let route = |route: &RibRoute| management::Route {
            face_id: route.face.0.into(),
            origin: route.origin,
            cost: route.cost,
            flags: route.flags,
            expiration_period_ms: (route.expires < Instant::NEVER)
                .then(|| route.expires.saturating_since(now).as_millis()),
        };
        self.rib
            .entries()
            .map(|(prefix, routes)| RibEntry { prefix: prefix.clone(), routes: routes.map(route).collect() })
            .collect()
    }
}

fn faces(node: &mut dyn NodeControl) -> Vec<FaceStatus> {
    let mut faces: Vec<_> = node.faces().iter().map(convert::face_status).collect();
    let place = faces.partition_point(|face| face.face_id < convert::CONTENT_STORE_FACE);
    faces.splice(place..place, convert::faces_without_peer());
    faces
}

fn fib(node: &mut dyn NodeControl) -> Vec<FibEntry> {
    let mut entries: Vec<_> = node.routes(MANAGED).into_iter().map(convert::fib_entry).collect();
    entries.sort_by(|one, other| one.prefix.cmp(&other.prefix));
    entries
}

fn strategies(node: &mut dyn NodeControl) -> Vec<StrategyChoice> {
    let mut choices = node.strategies(MANAGED);
    choices.sort_by(|one, other| one.prefix.cmp(&other.prefix));
    choices
}

fn content_store(node: &mut dyn NodeControl) -> CsInfo {
    let store = node.content_store();
    CsInfo {
        capacity: store.max_entries.into(),
        flags: convert::content_store_flags(&store),
        entries: store.entries.into(),
        hits: store.hits,
        misses: store.misses,
    }
}

/// What the node holds and has dropped, the RIB aside.
fn totals(status: &NodeStatus) -> Totals {
    let tables = &status.tables;
    let engine = status.engine.drops.iter().map(|(reason, count)| ("engine", reason.as_str(), count));
    let link = status.link_drops.iter().map(|(reason, count)| ("link", *reason, *count));
    let transport = status.transport_drops.occurred().into_iter();
    let transport = transport.map(|(reason, count)| ("transport", reason, count));
    let verification = status.sampling.iter().flat_map(engine::SamplingCounters::numbers);
    let verification = verification.filter(|(word, _)| *word != "taken");
    let verification = verification.map(|(word, count)| ("verification", word, count));
    let repositories = status.repositories.iter().map(|repository| RepositoryTotals {
        path: repository.path.display().to_string(),
        numbers: repository.numbers().into_iter().map(|(word, number)| (word.to_owned(), number)).collect(),
    });
    let sharing = status.sharing_numbers().map(|(word, count)| (word.to_owned(), count));
    let drops = engine.chain(link).chain(transport).chain(verification).filter(|(.., count)| *count > 0);
    Totals {
        faces: tables.faces as u64,
        queued_bytes: status.memory.queued_bytes as u64,
        reassembly_bytes: status.memory.reassembly_bytes as u64,
        pit_bytes: tables.pending_bytes,
        cs_bytes: tables.cached_bytes,
        table_bytes: tables.footprint_bytes as u64,
        rib_routes: 0,
        rib_bytes: 0,
        memory_budget_bytes: status.memory.budget_bytes,
        sharing: sharing.filter(|(_, count)| *count > 0).collect(),
        repositories: repositories.collect(),
        drops: drops
            .map(|(layer, reason, count)| Dropped {
                layer: layer.to_owned(),
                reason: reason.to_owned(),
                count,
            })
            .collect(),
    }
}
