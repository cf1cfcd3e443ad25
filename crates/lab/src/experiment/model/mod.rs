//! What an experiment file may hold. The reference is generated from these types and their comments.

use std::collections::BTreeMap;

pub use self::content::{Content, Sizes};
pub use self::download::{Download, Replay};
pub use self::expect::{Control, Expect};
pub use self::registration::Registration;
pub use self::server::Server;
pub use self::simulated::{
    Batch, Capacity, Capture, CoDel, Consumer, Event, Group, Mobility, Producer, RateControl, Topology, Trace,
};
use crate::experiment::reference::describe::tables;
use crate::experiment::units::{Frequency, Rate, Share, Size, Span};

mod content;
mod download;
mod expect;
mod registration;
mod server;
mod simulated;
pub mod study;

/// What a forwarder caches where nothing is said: on real nodes, on every machine, and in virtual time.
pub(super) const STORE_ENTRIES: u32 = 1 << 20;
pub(super) const STORE_BYTES: u64 = 64 << 20;

/// Is a value as good as left out, so that a written file stays short?
fn is_empty<T: IsDefault>(value: &T) -> bool {
    value.is_nothing()
}

/// Values that can be left out of a written file.
trait IsDefault {
    fn is_nothing(&self) -> bool;
}

impl<T> IsDefault for Option<T> {
    fn is_nothing(&self) -> bool {
        self.is_none()
    }
}

impl<T> IsDefault for Vec<T> {
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

impl<T> IsDefault for BTreeMap<String, T> {
    fn is_nothing(&self) -> bool {
        self.is_empty()
    }
}

tables! {
    /// The whole file.
    File as "the file" {
        /// One line that says what the experiment studies. It is the report's title.
        title: String,
        /// What is done and what is expected, in sentences. The report begins with it.
        about: Option<String> = "no text",
        /// Where the experiment comes from, such as a paper and its figure.
        source: Option<String> = "no source",
        /// How long the workloads run. Transfers that are not done by then count as unfinished.
        duration: Span,
        /// Whether a run ends as soon as every download and every counted ping is done, and not only after
        /// `duration`.
        until_done: Option<bool> = "false",
        /// Whether processors are kept from sleeping while workloads run in network namespaces, by a process
        /// that runs only where nothing else would. One that sleeps takes some tenths of a millisecond on a
        /// virtual machine until it goes on with a packet. Needs control groups and Linux 5.15.
        keep_awake: Option<bool> = "true",
        /// Whether in network namespaces all that a node runs stays on one processor, as in virtual time.
        /// Processors are dealt out to the nodes in their order. Else the system moves programs about, and
        /// what a packet costs differs by a fifth from repeat to repeat. Not where one node has more to do
        /// than a processor can, beside others that it would keep waiting.
        one_processor: Option<bool> = "false",
        /// How often each case is repeated, each time with new forwarders, another seed, and in virtual time
        /// another order of what happens at one instant: one repeat is seldom enough for a verdict.
        repeats: Option<u32> = "1",
        /// The seed of all randomness. Repeat number n uses seed + n.
        seed: Option<u64> = "1",
        /// How often forwarders are asked for their counters.
        sample_every: Option<Span> = "500 ms, as in the testbed report",
        /// That the file is a study, with networks, workloads and figures of its own.
        study: Option<study::Study> = "an experiment with the nodes below",
        /// The forwarder under test: `cairn`, `ndnd` or `nfd`; `none` for a network of nothing but HTTP.
        software: Option<String> = "cairn",
        /// What everybody speaks: `ndn`, or `ccnx`, the dialect of CCNx 0.8.
        dialect: Option<String> = "ndn",
        /// What packets cost in virtual time: a file that `cairn lab calibrate` wrote, in the same folder. A
        /// node with a `service_time` uses that instead.
        profile: Option<String> = "30 us for each packet",
        /// Settings for every node or link that does not set them itself.
        defaults: Option<Defaults> = "none",
        /// A network that is generated, drawn or read from a file.
        topology: Option<Topology> = "the nodes and links of this file",
        /// The nodes, by name; with a topology, the settings of some of its nodes.
        node: BTreeMap<String, Node> = "none; at least one is needed, or a topology",
        /// Settings that some nodes share.
        group: BTreeMap<String, Group> = "none",
        /// The links, by name. A link called `a-b` joins the nodes `a` and `b`. With a topology, the settings
        /// of some of its links, or further links, whose nodes `between` names.
        link: BTreeMap<String, Link> = "none",
        /// Where Interests go in addition to static routes: `static`, nowhere; `shortest`, along one shortest
        /// path to the nearest node that answers for a prefix; `all`, to all neighbours that are nearer to
        /// it.
        routes: Option<String> = "static",
        /// Static routes.
        route: Vec<Route> = "none",
        /// Generated files that a node serves.
        content: BTreeMap<String, Content> = "none",
        /// File downloads.
        download: BTreeMap<String, Download> = "none",
        /// Interests for content that does not exist.
        flood: BTreeMap<String, Flood> = "none",
        /// Routes that nodes ask their neighbours for: those of owners, and of attackers.
        registration: BTreeMap<String, Registration> = "none",
        /// Single Interests, answered at once, whose round trips are timed.
        ping: BTreeMap<String, Ping> = "none",
        /// Interests for single chunks of files, in a pattern.
        traffic: BTreeMap<String, Traffic> = "none",
        /// Applications that answer for all names under a prefix, in virtual time.
        producer: BTreeMap<String, Producer> = "none",
        /// Applications that send Interests, in virtual time.
        consumer: BTreeMap<String, Consumer> = "none",
        /// Programs of your own, in network namespaces.
        program: BTreeMap<String, Program> = "none",
        /// Processes that compete with a forwarder for its processor.
        load: BTreeMap<String, Load> = "none",
        /// What happens to the network, in virtual time or in namespaces.
        event: Vec<Event> = "nothing",
        /// Nodes that move, in virtual time or in namespaces.
        mobility: Option<Mobility> = "none does",
        /// What virtual time records in addition to what every run does.
        trace: Option<Trace> = "nothing",
        /// Links of virtual time whose packets are captured.
        capture: Vec<Capture> = "none",
        /// What is recorded in addition to counters and transfers.
        probe: Option<Probe> = "a capture at every node",
        /// Which part of a run counts.
        measure: Option<Window> = "from the first to the last activity of the workloads",
        /// What makes a run invalid.
        gates: Option<Gates> = "the thresholds below",
        /// Named variants of the experiment, run one after the other.
        case: Vec<Case> = "one case, the file as it stands",
        /// Keys that are run over many values; more than one sweep makes every combination.
        sweep: Vec<Sweep> = "none",
        /// What is expected of the results.
        expect: Vec<Expect> = "none",
        /// Runs without the claimed cause of what is expected.
        control: Vec<Control> = "none",
        /// Figures of a paper, drawn again from the measurements.
        figure: Vec<Figure> = "only the figures that every report has",
        /// Changes that hold on one backend only, by its name: `netns`, `hosts` or `sim`. This is where an
        /// experiment is scaled to one machine.
        on: BTreeMap<String, Override> = "the same on every backend",
    }

    /// Settings for all nodes or links that do not set them themselves.
    Defaults as "defaults" {
        /// For every node.
        node: Option<Node> = "none",
        /// For every link.
        link: Option<Link> = "none",
    }

    /// A node: one forwarder in a network namespace of its own, or in virtual time.
    Node as "node" {
        /// The share of one processor core that the forwarder gets. In virtual time it slows the node's
        /// service down; with a profile, and no service time of the node's own, it is kept as the kernel
        /// keeps it.
        cpu: Option<Share> = "all it can get",
        /// The period over which the kernel enforces that share. A forwarder that has used its share up
        /// stands still until the period ends. In virtual time only with a profile.
        cpu_period: Option<Span> = "1 ms divided by the share, the shortest that the kernel can keep",
        /// The memory the forwarder may use.
        memory: Option<Size> = "all it can get",
        /// The forwarder's settings.
        forwarder: Option<Forwarder> = "the forwarder's own defaults",
        /// A program that serves files or is a proxy, in network namespaces.
        server: Option<Server> = "none",
        /// Whether it is a switch: it passes IP packets on, and has no forwarder. In a route the nodes before
        /// and behind it are neighbours. In network namespaces only.
        switch: Option<bool> = "false",
        /// The link whose traffic figures and tables show for this node.
        watch: Option<String> = "the link to the next hop of its first route, or else its first link",
        /// The time for which one packet keeps the node's processor busy in virtual time, at a full core;
        /// with 0 packets take no time and never wait. Other backends measure it instead.
        service_time: Option<Span> = "30 us",
        /// The same for a Data packet, if it costs more than an Interest.
        data_service_time: Option<Span> = "the same as `service_time`",
        /// How many packets may wait for the processor in virtual time; further ones are dropped.
        service_queue: Option<u32> = "1000",
        /// Changes of the processor's speed at given times. Virtual time only; a `load` works on every
        /// backend.
        capacity: Vec<Capacity> = "as `cpu` says, all the time",
        /// How coarse the clock of this node's consumers is. All settings of clocks are for virtual time
        /// only.
        tick: Option<Span> = "fine",
        /// How far that clock is ahead of the true time.
        clock_offset: Option<Span> = "0 s",
        /// How much faster it runs, in millionths.
        drift_ppm: Option<f64> = "0",
        /// Whether the forwarder uses that clock, too.
        engine_clock: Option<bool> = "false",
    }

    /// A forwarder's settings.
    Forwarder as "node.forwarder" {
        /// How many Data packets are cached, `content_store.max_entries` of the node; 0 switches the cache
        /// off.
        content_store: Option<u32> = "1,048,576; 1,024 for `ndnd`, 65,536 for `nfd`",
        /// How many bytes of Data are cached, the node's `content_store.max_bytes`. For `cairn` alone.
        content_store_bytes: Option<Size> = "64 MiB",
        /// How many Interests may be pending. At the limit the forwarder's policy decides which one is
        /// dropped.
        max_pending or "pending_limit": Option<u32> = "the forwarder's own default",
        /// How many pending Interests one face may hold.
        max_pending_per_face or "pending_limit_per_face": Option<u32> = "no limit",
        /// Interests a second that one face may send; more are answered with Nacks or dropped.
        max_interests_per_second_per_face or "face_rate_limit": Option<Frequency> = "no limit",
        /// The forwarding strategy of every name, such as `best-route` or `multicast`.
        strategy: Option<String> = "best-route",
        /// Which cached Data is evicted when the cache is full: `lru`, `s3-fifo`, `sieve`, or a policy that
        /// was added to the program.
        eviction: Option<String> = "sieve",
        /// Which of the Data that was asked for is cached: `everywhere`, which is all of it;
        /// `leave-copy-down`, what no node before this one has cached on this way; `probability~0.5`, so much
        /// of it at random; `local-consumers`, what a workload at this node waits for; `fair-share`,
        /// what a neighbour has asked for twice, while no more is kept for it than its share. For `cairn`
        /// alone.
        placement: Option<String> = "everywhere",
        /// Who of its neighbours may register routes: `nobody`; `anyone`, without a key; `keys`, whoever
        /// signs with one of the experiment's keys; `owners`, likewise, and only for names below the
        /// identity of that key. For `cairn` alone.
        registrations: Option<String> = "nobody",
        /// Further lines for the forwarder's own configuration file, copied literally.
        settings: Option<String> = "none",
    }

    /// A link between two nodes, the same in both directions, or one that more of them share.
    Link as "link" {
        /// The nodes. A group stands for its nodes. More than two share the link, in virtual time only: they
        /// have multicast faces, one sends at a time, and each receiver loses frames of its own.
        between: Option<Vec<String>> = "the two names in the link's own name, as in `a-b`",
        /// What carries packets: `udp`, `tcp` or `ether`.
        kind: Option<String> = "udp",
        /// Whether those who share a link and want the same Data fetch it together, as with the node's
        /// setting `multicast.share`. Links of NDN with `codel` and without `frames` have no parity frames.
        share: Option<bool> = "false",
        /// The rate of each direction; of a shared link that of all together.
        rate: Option<Rate> = "as fast as the machine is",
        /// The time a bit needs from end to end.
        delay: Option<Span> = "0 ms",
        /// The part of all frames that is lost.
        loss: Option<Share> = "0 %",
        /// How many full frames may wait for a link with a rate; further ones are dropped.
        queue: Option<u32> = "100",
        /// The largest IP packet in bytes.
        mtu: Option<u32> = "1500",
        /// The length of the link for `routes`.
        metric: Option<u32> = "1",
        /// How many packets may wait, whatever their size, instead of `queue`. This key and those below, to
        /// `jitter`, are for virtual time only.
        queue_packets: Option<u32> = "by `queue`",
        /// How many bytes may wait, instead of `queue`.
        queue_bytes: Option<Size> = "by `queue`",
        /// Packets that join the queue get a congestion mark while more bytes than this wait.
        mark_above: Option<Size> = "never",
        /// CoDel for the queue.
        codel: Option<CoDel> = "none",
        /// Whether the link sends at once, after a pause, what a real link of the lab does: its kernel has a
        /// token bucket of what the rate carries in 4 ms, and two frames at least. Real links always have it.
        token_bucket: Option<bool> = "false: each packet takes its time at the rate, as on a cable",
        /// The engines at both ends tell consumers how fast they may send Interests. Needs a rate.
        rate_control: Option<RateControl> = "none",
        /// Bytes of headers below a packet.
        overhead: Option<Size> = "those of `kind`: 42 B for udp, 66 B for tcp, 14 B for ether",
        /// The part of all packets that arrives twice.
        duplicate: Option<Share> = "0 %",
        /// The part of all packets that is delayed by `reorder_delay`, so that later ones overtake them.
        reorder: Option<Share> = "0 %",
        /// How long those are delayed.
        reorder_delay: Option<Span> = "0 s",
        /// Each packet is delayed by a random time up to this.
        jitter: Option<Span> = "0 s",
        /// Whether the link carries real frames of at most `mtu` bytes: those of NDNLPv2, as real links of
        /// NDN do in any case, or with `dialect = "ccnx"` over UDP those of NDNLP v1, on every backend.
        frames: Option<bool> = "false: each packet is one frame; true for CCNx over Ethernet",
        /// Whether frames are acknowledged, and sent again if they are lost. Needs `frames`, on every
        /// backend.
        reliable: Option<bool> = "false",
        /// When frames of NDNLP v1 are acknowledged and sent again; on every backend.
        acknowledgement: Option<Acknowledgement> = "as in the paper",
    }

    /// When frames of NDNLP v1 are acknowledged and sent again (NDN-0006): the rule that `timing` names, and
    /// single numbers in place of the rule's.
    Acknowledgement as "link.acknowledgement" {
        /// `paper`, the defaults of its section 3.3.1; `round-trip`, what that section recommends for a link
        /// whose round trip is twice `delay`; `link-delay`, what section 2.3 says of a link with `delay`. Of
        /// both, a round trip is 1 ms at least.
        timing: Option<String> = "paper",
        /// Packets that are kept to be sent again.
        sent_packets: Option<u32> = "100; with `round-trip` what the link sends in two round trips, if more",
        /// How often a packet is sent again at most.
        retries: Option<u32> = "5; with `link-delay` 2",
        /// How long its acknowledgement is waited for.
        retransmit: Option<Span> = "1 s; with `round-trip` three round trips; with `link-delay` four delays",
        /// How long an acknowledgement may wait for others.
        acknowledge: Option<Span> = "300 ms; with the others one round trip",
    }

    /// A static route for a prefix.
    Route as "route" {
        /// The names it is for.
        prefix: String,
        /// The nodes on the way of Interests, from the consumer to the producer. Each of them gets a route to
        /// the next. The first may be the name of a group: all its nodes are meant.
        path: Vec<String>,
        /// The cost of each hop.
        cost: Option<u32> = "1",
    }

    /// Interests for content that does not exist, in bursts, refreshed before they expire.
    Flood as "flood" {
        /// The node that sends.
        at: String,
        /// The prefix of the names; a number follows.
        prefix: String,
        /// How many Interests leave in one burst.
        burst: Option<u32> = "2000",
        /// The time from one burst to the next.
        every: Option<Span> = "6 s",
        /// Bursts go on until so many Interests are pending.
        until: u32,
        /// How long an Interest lives.
        lifetime: Option<Span> = "4 s",
        /// How long after it was sent each Interest is sent again; must be less than the lifetime to keep it
        /// pending.
        refresh: Option<Span> = "never",
        /// When the first burst leaves.
        start: Option<Span> = "1 s",
        /// When it ends.
        stop: Option<Span> = "with the experiment",
    }

    /// Single Interests for fresh names, answered at once by a node.
    Ping as "ping" {
        /// The node that asks.
        at: String,
        /// The node that answers.
        to: String,
        /// The prefix of the names; a number follows. It needs a route like every name.
        prefix: String,
        /// The time from one ping to the next.
        every: Option<Span> = "100 ms",
        /// How many there are.
        count: Option<u32> = "as many as fit",
        /// How long to wait for an answer.
        lifetime: Option<Span> = "4 s",
        /// When the first leaves.
        start: Option<Span> = "1 s",
    }

    /// Interests for single chunks of files in a pattern.
    Traffic as "traffic" {
        /// The node that asks.
        at: String,
        /// The name of the content.
        content: String,
        /// Interests a second.
        rate: Option<Frequency> = "`workload` says it",
        /// Which chunk is next: `sequential`, `uniform` or `zipf`.
        pattern: Option<String> = "uniform",
        /// The exponent of `zipf`.
        exponent: Option<f64> = "1",
        /// Between Interests: `constant`, `uniform` or `poisson` times.
        spacing: Option<String> = "constant",
        /// Instead of the four keys above, a workload by its name and parameters, such as
        /// `zipf/rate~100/shift~5`, or one that was added to the program. Its items are the chunks, file
        /// after file.
        workload: Option<String> = "`rate`, `pattern`, `exponent` and `spacing` say it",
        /// A trace that is replayed instead, as by a download. Each request is one Interest: for the first
        /// chunk of the file that is the trace's object.
        trace: Option<Replay> = "none",
        /// How long an Interest lives.
        lifetime: Option<Span> = "4 s",
        /// When it begins.
        start: Option<Span> = "1 s",
        /// When it ends.
        stop: Option<Span> = "with the experiment",
    }

    /// A program of one's own at a node. It runs in the node's network namespace and in a folder of its own
    /// in the run's folder, `raw/NODE/NAME`; what it says is in `raw/NAME.out` and `raw/NAME.err`. In its
    /// environment are `NDN_CLIENT_TRANSPORT` and, with `dialect = "ccnx"`, `CCN_LOCAL_TRANSPORT`, which lead
    /// applications to the node's forwarder, `CAIRN`, our own command, `CAIRN_NODE`, the node's name, and
    /// `CAIRN_NUMBER`, how often it has run before. All nodes know each other's names as names of hosts, and
    /// IP packets find their way between them. Each time that it runs counts as a transfer: complete if it
    /// ends with the status `exit`.
    Program as "program" {
        /// The node.
        at: String,
        /// The program and its arguments. No shell reads them; `["sh", "-c", "…"]` is one.
        command: Vec<String>,
        /// Prefixes of the names that it answers for, to which `routes` lead.
        answers: Vec<String> = "none",
        /// Further environment variables.
        environment: BTreeMap<String, String> = "none",
        /// Whether it serves until the end of the run. Then it is no transfer, and the run is not valid if it
        /// ends earlier.
        serves: Option<bool> = "false: it ends by itself",
        /// How often it runs, one after the other.
        count: Option<u32> = "1",
        /// The exit status that means success.
        exit: Option<u32> = "0",
        /// A file that it writes in its folder. Its length counts as the content of the transfer.
        output: Option<String> = "no content",
        /// When it begins.
        start: Option<Span> = "1 s; 0 s if it serves",
        /// When it is ended, first by SIGTERM, and by SIGKILL 2 s later. One that has not ended by itself is
        /// unfinished.
        stop: Option<Span> = "with the experiment",
    }

    /// A process that takes processor time away from the forwarder of a node, in phases.
    Load as "load" {
        /// The node.
        at: String,
        /// The part of the node's processor that is taken while busy.
        cpu: Option<Share> = "90 %",
        /// How long it is busy.
        busy: Span,
        /// How long it then sleeps.
        idle: Span,
        /// When it is busy for the first time.
        start: Option<Span> = "0 s",
    }

    /// What is recorded.
    Probe as "probe" {
        /// Whether packets are captured.
        capture: Option<bool> = "true",
        /// How many bytes of each packet are kept.
        snap: Option<Size> = "500 B, as in the testbed report",
        /// Whether a packet summary is written as PSML, in addition to the table that is always written.
        psml: Option<bool> = "false",
    }

    /// The part of a run that counts. Numbers of nodes are of this part; those of workloads are of what began
    /// in it.
    Window as "measure" {
        /// When it begins, from the start of the run: everything before is warm-up.
        from: Option<Span> = "with the first transfer, ping or Interest of any workload",
        /// When it ends.
        until: Option<Span> = "with the last transfer or answer, or the end of a flood",
        /// Prefixes by which Interests of clients are counted, in the whole run: `/a.satisfied` is then a
        /// measure.
        prefixes: Vec<String> = "none",
    }

    /// Thresholds. A run that exceeds one is marked invalid, and not used in means.
    Gates as "gates" {
        /// The part of all frames that a capture may miss.
        capture_drops: Option<Share> = "0.1 %",
        /// The part of all samples that a forwarder may fail to answer.
        invalid_samples: Option<Share> = "5 %",
        /// The part of all transfers that may be unfinished.
        unfinished: Option<Share> = "0 %: what was begun is to be finished, or the numbers are those of a part of the work",
        /// The part of the processor's time that the host of a virtual machine may take away.
        steal: Option<Share> = "5 %",
        /// The part of the time for which a forwarder may wait for a processor that others use. Time in which
        /// its own share keeps it from running does not count.
        waited: Option<Share> = "25 %",
        /// How long a forwarder may give no answer.
        forwarder_standstill or "silence": Option<Span> = "1.5 s, or three times `sample_every` if that is longer",
        /// How long a client may stand still, because it is frozen or waits for a processor.
        client_standstill: Option<Span> = "1 s",
        /// How far clocks may differ, or by how much the clock may be set during a run.
        clock_error: Option<Span> = "1 ms",
        /// How often an invalid run is repeated before it is left as invalid. One that is invalid only
        /// because work was left is not repeated: that is a result.
        retries: Option<u32> = "0",
    }

    /// A named variant of the experiment.
    Case as "case" {
        /// Its name in figures and tables.
        name: String,
        /// Keys and their values, such as `"node.n4.cpu" = "25 %"`. A `*` stands for every name, and an empty
        /// text takes a key away.
        set: BTreeMap<String, toml::Value> = "nothing is changed",
    }

    /// A key that is run over many values. Sweeps with `sample` are drawn together: each case has one value
    /// of every such key.
    Sweep as "sweep" {
        /// The key, such as `link.*.rate`. A `*` stands for every name.
        key: String,
        /// Its values.
        values: Option<Vec<toml::Value>> = "`from`, `to` and `step` are given",
        /// The first value of a range.
        from: Option<f64> = "`values` are given",
        /// The last value of a range.
        to: Option<f64> = "`values` are given",
        /// The step of a range.
        step: Option<f64> = "`values` are given, or a `sample` is drawn",
        /// How values are drawn between `from` and `to`: `latin-hypercube`, each from another of as many
        /// equal parts of the range as there are cases, or `random`. The seed of the file decides, and all
        /// sweeps with `sample` draw the same way.
        sample: Option<String> = "every value by `step`",
        /// How many cases are drawn, in one of the sweeps with `sample`.
        cases: Option<u32> = "another sweep with `sample` says it",
        /// Whether the logarithm is drawn evenly, and not the number itself.
        logarithmic: Option<bool> = "false",
        /// Whether only whole numbers are drawn, such as a key for a count needs.
        whole: Option<bool> = "false",
        /// What is written behind each number of a range, such as ` Mbit/s`.
        unit: Option<String> = "nothing",
        /// What the key is called in figures and tables.
        label: Option<String> = "the last part of the key",
    }

    /// A figure of a paper, drawn in the paper's own form from what is measured here.
    Figure as "figure" {
        /// What it shows.
        title: String,
        /// Where the paper has it, such as `figure 6`.
        paper: Option<String> = "not from a paper",
        /// What the paper's figure shows, to be read beside ours.
        shows: Option<String> = "nothing",
        /// `over-time`: quantities of one node below each other over the same time, a column for each case.
        /// `every-node`: a row for each node, a column for each quantity over time. `per-node`: bars for each
        /// node, a colour for each case. `per-case`: a column for each case with the mean of each node and
        /// its deviation over time. `over-parameter`: a measure over the values of the last sweep, a line for
        /// each node, or with `at` one for each other variant. `round-trips`: a box of all round trips of a
        /// ping or of traffic, which `show` names, for each case.
        form: String,
        /// What is drawn: measures of a node such as `pending`; with the form `over-time` also `transfers`,
        /// from start to stop, and `loads`, when competing processes are busy.
        show: Vec<String>,
        /// The node of the forms `over-time` and `over-parameter`.
        at: Option<String> = "the second node of the first route: the consumer's router; every node in `over-parameter`",
        /// Which number the bars of the form `per-node` show, such as `max` or `sum`.
        of: Option<String> = "mean",
        /// Only cases whose name contains this text.
        cases: Option<String> = "all cases",
    }

    /// Changes that hold on one backend only.
    Override as "on" {
        /// Why, for the report.
        why: String,
        /// Keys and their values. A `*` stands for every name.
        set: BTreeMap<String, toml::Value> = "nothing is changed",
    }
}
