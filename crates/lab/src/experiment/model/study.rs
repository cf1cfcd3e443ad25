//! Studies: sweeps in virtual time that end in the tables and figures of a paper.

use super::{Topology, is_empty};
use crate::experiment::reference::describe::tables;
use crate::experiment::units::{Frequency, Rate, Share, Size, Span};

tables! {
    /// A sweep that repeats a paper and ends in the paper's own tables and figures, in virtual time. Of the
    /// keys of the file it has `title`, `about`, `source`, `duration`, `seed` and `repeats`, and exactly one
    /// of the tables below.
    Study as "study" {
        /// How coarse a clock may be: Kato, Osada, Yamamoto, Ohzahata, 2018.
        clock: Option<ClockStudy> = "another study",
        /// Which clock is fine enough for which controller: what that paper left for later.
        clock_beyond: Option<ClockBeyond> = "another study",
        /// How often a persistent cache has what is asked for: Gadow, Anastasiades et al., 2015.
        persistent_cache: Option<PersistentCacheStudy> = "another study",
        /// Where in a network copies are left, as with Icarus: Saino, Psaras, Pavlou, 2014.
        cache_placement: Option<CachePlacementStudy> = "another study",
    }

    /// Routers with equal caches, a receiver at each, and sources at those with most links; requests by
    /// Zipf's law that follow each other, without packets. Every combination of `placements`, `zipf` and
    /// `rooms` runs for `duration`, `repeats` times.
    CachePlacementStudy as "study.cache_placement" {
        /// The routers and the links between them.
        topology: Topology,
        /// How many sources there are.
        sources: Option<u32> = "a tenth of the routers, at least one",
        /// The delay between a source and its router.
        source_delay: Option<Span> = "0 s",
        /// How many objects there are.
        objects: u32,
        /// Exponents of Zipf's law.
        zipf: Vec<f64>,
        /// Parts of all objects that all caches together have room for.
        rooms: Vec<Share>,
        /// Requests of all receivers together.
        rate: Option<Frequency> = "1/s",
        /// Before `duration`: what is asked for does not count.
        warm_up: Span,
        /// Where copies are left on the way back: `everywhere`, `leave-copy-down`, `probability~0.2`,
        /// `one-at-random`, `prob-cache~10` (after Psaras, Chai and Pavlou, TPDS 2014), `most-central` (cache
        /// less for more; Chai, He, Psaras and Pavlou, 2012), or `edge`, where only the receiver's router is
        /// asked.
        placements: Vec<String>,
        /// Who leaves a full cache: `lru`, `s3-fifo`, `sieve`, or a policy that was added to the program.
        eviction: Option<String> = "lru",
        /// What another simulator says of the same.
        reference: Vec<PlacementReference> = "none",
    }

    /// What another simulator says of a configuration.
    PlacementReference as "study.cache_placement.reference" {
        /// Of this placement.
        placement: String,
        /// With this exponent.
        zipf: f64,
        /// With this room.
        room: Share,
        /// The part of requests that a cache answered.
        hits: Share,
        /// The mean round trip.
        round_trip: Option<Span> = "not said",
    }

    /// Consumers whose clocks are coarse, limited by token buckets of routers. Every combination of the sweep
    /// runs for `duration`, and each again with a pacer that clocks itself by arrivals.
    ClockStudy as "study.clock" {
        /// `linear`, which is a consumer, two routers and a producer; or `dumbbell`, with pairs of consumers
        /// and producers on both sides of one link.
        topology: String,
        /// Links and packets.
        network: ClockNetwork,
        /// Who asks.
        consumer: ClockConsumer,
        /// Ways to read what the paper leaves open; the first leads.
        reading: Vec<ClockReading>,
        /// What is varied.
        sweep: ClockSweep,
        /// Numbers that the paper gives.
        paper: Vec<ClockCell> = "none",
    }

    /// Links and packets of a study of clocks, the same everywhere.
    ClockNetwork as "study.clock.network" {
        /// The rate of each direction.
        rate: Rate,
        /// The time a packet is on a link.
        delay: Span,
        /// Packets that may wait for a link.
        queue: u32,
        /// The size of a Data packet as a whole.
        data: Size,
        /// The size of an Interest.
        interest: Option<Size> = "as its name makes it",
        /// Bytes that each link adds to a packet.
        overhead: Option<Size> = "0 B",
    }

    /// Consumers of a study of clocks.
    ClockConsumer as "study.clock.consumer" {
        /// The controller with its parameters; `{share}` is what the link carries in packets a second,
        /// divided by the number of pairs.
        controller: String,
        /// When the first of them starts.
        start: Option<Span> = "0 s",
        /// When a new rate counts: `immediate`, or `after-next` Interest, whose time stands already.
        rate_change: Option<String> = "after-next",
    }

    /// A way to read what the paper leaves open.
    ClockReading as "study.clock.reading" {
        /// For names of files.
        name: String,
        /// In a sentence.
        description: String,
        /// What buckets leak.
        bucket_rate: Frequency,
        /// Packets that they leak at a time.
        bucket_leak: Option<f64> = "1",
        /// Where buckets are: `face`, one towards each neighbour; `share`, in the first router of a dumbbell
        /// one for each route, at an equal share; `share-and-face`, both; `adapting`, `face` with one for
        /// each route before it, whose rate every node adapts.
        router_limit: Option<String> = "face",
    }

    /// What a study of clocks varies.
    ClockSweep as "study.clock.sweep" {
        /// Pairs of a dumbbell.
        pairs: Vec<u32> = "must be given for it",
        /// Packets that a bucket holds.
        bucket_depths: Vec<u32>,
        /// How coarse the consumers' clocks are; `0 s` is the fine clock.
        ticks: Vec<Span>,
        /// Further start times within a tick, common to all consumers, at which each combination runs.
        other_starts: Option<u32> = "0",
    }

    /// A number that the paper gives.
    ClockCell as "study.clock.paper" {
        /// Of so many pairs.
        pairs: Option<u32> = "1",
        /// With this bucket.
        bucket_depth: u32,
        /// With this clock.
        tick: Span,
        /// With a pacer that clocks itself by arrivals.
        smoothened: Option<bool> = "false",
        /// The throughput.
        rate: Rate,
        /// How many Nacks.
        nacks: Option<u64> = "the paper does not say",
    }

    /// Controllers, speeds and clocks in every combination. The runs of `several` and `mixed` flows last
    /// `duration`.
    ClockBeyond as "study.clock_beyond" {
        /// Links and packets.
        network: BeyondNetwork,
        /// Controllers with what nodes do for them.
        variant: Vec<BeyondVariant>,
        /// One flow over links of each speed.
        speeds: BeyondSpeeds,
        /// Several flows that start at random times.
        several: BeyondSeveral,
        /// Flows with different clocks on one link.
        mixed: BeyondMixed,
    }

    /// Links and packets.
    BeyondNetwork as "study.clock_beyond.network" {
        /// The time a packet is on a link.
        delay: Span,
        /// Packets that may wait for a link.
        queue: u32,
        /// The size of a Data packet as a whole.
        data: Size,
        /// The size of an Interest.
        interest: Size,
        /// Bytes that each link adds to a packet.
        overhead: Size,
        /// Packets that a bucket holds.
        bucket_depth: u32,
    }

    /// A controller, how its Interests leave, and what nodes do.
    BeyondVariant as "study.clock_beyond.variant" {
        /// Its name.
        name: String,
        /// The controller with its parameters; `{max}` is what the link carries in packets a second,
        /// `{share}` that divided by the number of flows.
        controller: String,
        /// Interests leave at `ticks`, or at `arrivals` as well.
        smoothing: String,
        /// How many may leave at an arrival.
        per_arrival: Option<u32> = "all that are due",
        /// What nodes do: `face`, a bucket towards each neighbour; `queue`, queues for a round trip's Data
        /// and nothing else; `codel`, such queues that mark; `hobhis` and `mircc`, tell consumers a rate.
        routers: String,
        /// The controller has a window and never a rate, and so looks at no clock: all ticks are one run.
        window_only: Option<bool> = "false",
    }

    /// One flow over links of each speed.
    BeyondSpeeds as "study.clock_beyond.speeds" {
        /// The speeds.
        rates: Vec<Rate>,
        /// What is not counted of a run, at each speed.
        warm_ups: Vec<Span>,
        /// What is counted after that, at each speed.
        durations: Vec<Span>,
        /// How coarse clocks are.
        ticks: Vec<Span>,
        /// Longer runs, in order, for flows that Nacks have cut.
        again: Vec<BeyondAgain> = "none",
    }

    /// Takes the place of a run with Nacks.
    BeyondAgain as "study.clock_beyond.speeds.again" {
        /// If the flow got less than so much of the link.
        below: Share,
        /// What is not counted, at each speed.
        warm_ups: Vec<Span>,
        /// What is counted after that, at each speed.
        durations: Vec<Span>,
    }

    /// Several flows that start at random times.
    BeyondSeveral as "study.clock_beyond.several" {
        /// The link's rate.
        rate: Rate,
        /// What is not counted of a run.
        warm_up: Span,
        /// How many flows.
        pairs: Vec<u32>,
        /// How coarse clocks are.
        ticks: Vec<Span>,
        /// Flows start within this time.
        start_spread: Span,
        /// How often each combination runs.
        repeats: Option<u32> = "1",
    }

    /// Flows with different clocks on one link, else as in `several`.
    BeyondMixed as "study.clock_beyond.mixed" {
        /// How many.
        pairs: u32,
        /// Their ticks, in turn.
        ticks: Vec<Span>,
    }

    /// Requests for a day of a web server's and of a video portal's files, `repeats` times, `duration` long
    /// from the first deletion on.
    PersistentCacheStudy as "study.persistent_cache" {
        /// The parts of the repository that a deletion frees.
        ratios: Vec<Share>,
        /// Columns of the paper's table of workloads.
        workload: Vec<CacheWorkload>,
        /// Single departures from the text of the paper.
        departure: Vec<CacheDeparture> = "none",
        /// Repeats of departures.
        departure_repeats: Option<u32> = "10",
        /// Policies that are compared.
        evictions or "policies": Option<CacheEvictions> = "none",
        /// Objects, ranges of segments and single segments, compared.
        ranges: Option<CacheRanges> = "none",
        /// Repositories at each level of a network.
        hierarchy: Vec<CacheHierarchy> = "none",
        /// Several repositories at one router.
        several: Option<CacheSeveral> = "none",
    }

    /// A column of the paper's table of workloads.
    CacheWorkload as "study.persistent_cache.workload" {
        /// Its name.
        name: String,
        /// Zipf's exponent of which class is asked for.
        popularity_alpha: f64,
        /// Zipf's exponent of which class a new file is in.
        files_alpha: f64,
        /// The shape of the sizes' gamma distribution.
        size_shape: f64,
        /// Its scale.
        size_scale: Size,
        /// The least size.
        min_size: Size,
        /// The largest size.
        max_size: Size,
        /// Between requests.
        request_every: Span,
        /// Between new files.
        file_every: Span,
        /// Sizes of the repository, in whole GB.
        thresholds: Vec<Size>,
        /// Numbers that the paper gives.
        paper: Vec<CacheCell> = "none",
    }

    /// A number that the paper gives.
    CacheCell as "study.persistent_cache.workload.paper" {
        /// With a repository of this size.
        threshold: Size,
        /// Of which a deletion frees so much.
        ratio: Share,
        /// Hits of all requests.
        hits: Share,
    }

    /// A single departure from the text of the paper. What is not said is as in the text.
    CacheDeparture as "study.persistent_cache.departure" {
        /// In words.
        name: String,
        /// Files that exist upstream before the first request.
        first_files: Option<u32> = "0",
        /// Only so many of the newest files are asked for.
        newest_only: Option<u32> = "all",
        /// Whether the last class has most files.
        last_has_most: Option<bool> = "true",
        /// Whether requests that create files count as hits.
        new_are_hits: Option<bool> = "false",
        /// Whether what is fetched is included.
        keeps_missed: Option<bool> = "true",
        /// Zipf's exponent of which class a new file is in.
        files_alpha: Option<f64> = "the workload's",
        /// Between requests.
        request_every: Option<Span> = "the workload's",
        /// What sizes are multiplied with.
        size_factor: Option<f64> = "1",
        /// How long the evaluation is.
        duration: Option<Span> = "the file's",
        /// The size of a gigabyte.
        gigabyte: Option<Size> = "1 GB",
        /// Instead of the paper's queue.
        eviction or "policy": Option<String> = "the paper's queue",
    }

    /// Which policies are compared.
    CacheEvictions as "study.persistent_cache.evictions" {
        /// How often each runs.
        repeats: u32,
        /// Policies with their parameters.
        names: Vec<String>,
        /// The parts of the repository that a deletion frees.
        ratios: Vec<Share>,
        /// Zipf's exponents of catalogues without classes.
        zipf: Vec<f64> = "no such catalogue",
        /// Objects of such a catalogue.
        objects: Option<u32> = "0",
        /// Requests for them that count; as many come before.
        requests: Option<u32> = "0",
        /// Parts of such a catalogue's bytes that there is room for.
        rooms: Vec<Share> = "none",
    }

    /// What is kept or dropped together: objects, ranges of segments, or segments. Requests are as in the
    /// workloads, but some end early.
    CacheRanges as "study.persistent_cache.ranges" {
        /// How often each combination runs.
        repeats: u32,
        /// Segments that are kept together; 0 for whole objects.
        ranges: Vec<u32>,
        /// Policies with their parameters.
        evictions or "policies": Vec<String>,
        /// Parts of the requests that end early, at a place in the file each as likely.
        early: Vec<Share>,
        /// Sizes of the repository, one for each workload, in whole GB.
        thresholds: Vec<Size>,
        /// The part of the repository that a deletion frees.
        ratio: Share,
        /// The size of a segment.
        segment: Size,
        /// Segments that a consumer asks for beyond the last one that was delivered in order.
        window: u32,
        /// From a consumer to the router and back.
        near: Span,
        /// From the router upstream and back.
        far: Span,
        /// The rate of the link to a consumer.
        near_rate: Rate,
        /// The rate of the link from upstream.
        far_rate: Rate,
    }

    /// Repositories at each level of a network, as in the paper's figure 1. Each node of the lowest level has
    /// users who ask as often as the workload says, all for the same files.
    CacheHierarchy as "study.persistent_cache.hierarchy" {
        /// The name of the workload.
        workload: String,
        /// How often each combination runs.
        repeats: u32,
        /// What every repository deletes.
        eviction or "policy": Option<String> = "the paper's queue",
        /// The part of a repository that a deletion frees.
        ratio: Share,
        /// What is not counted.
        warm_up: Span,
        /// From a user to the lowest level, one way.
        access_delay: Span,
        /// The rate of a user's own link.
        access_rate: Rate,
        /// The levels, the lowest first.
        level: Vec<CacheLevel>,
        /// Where repositories are; the first case is what the others are compared with.
        case: Vec<CachePlacement>,
        /// What users would take of the link to the source if nothing were cached, as parts of its rate.
        loads: Vec<Share> = "none",
        /// All links upward from a level fail for a while.
        cut: Option<CacheCut> = "none",
    }

    /// A level of a network.
    CacheLevel as "study.persistent_cache.hierarchy.level" {
        /// What its nodes are.
        name: String,
        /// How many there are.
        nodes: u32,
        /// The rate of the link upward from each.
        rate: Rate,
        /// Of the same link, one way.
        delay: Span,
    }

    /// Where repositories are.
    CachePlacement as "study.persistent_cache.hierarchy.case" {
        /// In words.
        name: String,
        /// The size of the repository of each node, for each level; 0 B for none.
        thresholds: Vec<Size>,
    }

    /// All links upward from a level fail for a while.
    CacheCut as "study.persistent_cache.hierarchy.cut" {
        /// The name of the level.
        above: String,
        /// When, after the warm-up.
        begins: Span,
        /// How long.
        lasts: Span,
    }

    /// Several repositories at one router, which include nothing while they delete.
    CacheSeveral as "study.persistent_cache.several" {
        /// The name of the workload.
        workload: String,
        /// How often each combination runs.
        repeats: u32,
        /// Room in all of them together.
        threshold: Size,
        /// The part of a repository that a deletion frees.
        ratio: Share,
        /// How many there are.
        repositories: Vec<u32>,
        /// How long a deletion takes, for each GB that the repository holds.
        deletions: Vec<Span>,
    }
}
