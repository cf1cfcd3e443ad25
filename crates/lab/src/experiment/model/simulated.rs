//! What only virtual time has so far, and what draws or imports a network.

use super::is_empty;
use crate::experiment::reference::describe::tables;
use crate::experiment::resolve::choice::Choice;
use crate::experiment::units::{Frequency, Rate, Share, Size, Span};

tables! {
    /// A network that is generated from a rule, drawn at random, or read from a file. Its nodes and links can
    /// be changed by their names below `node` and `link`; nodes of a rule are called `node-0` and so on, a
    /// link is called by its two nodes, as in `node-0-node-1`. What neither says comes from `defaults`.
    Topology as "topology" {
        /// `chain`, `star`, `tree`, `grid`, `dumbbell` (`left-0` …, `router-0`, `router-1`, `right-0` …),
        /// `waxman`, `barabasi-albert`; or what is in the file: `named` (TOML, or JSON by its ending, with
        /// `[[node]]` and `[[link]]`), `ndnsim`, `minindn`, `rocketfuel`, `rocketfuel-weights`,
        /// `rocketfuel-latencies`, `graphml`, `gml`. Of maps the largest connected part is kept.
        kind: String,
        /// Nodes of a `chain`, `waxman` or `barabasi-albert`.
        nodes: Option<u32> = "must be given for those",
        /// Nodes around the hub of a `star`, which is `node-0`.
        leaves: Option<u32> = "must be given for it",
        /// Children of each node of a `tree`, whose root is `node-0`.
        children: Option<u32> = "must be given for it",
        /// Levels of links of a `tree`.
        depth: Option<u32> = "must be given for it",
        /// Columns of a `grid`.
        columns: Option<u32> = "must be given for it",
        /// Rows of a `grid`.
        rows: Option<u32> = "must be given for it",
        /// Pairs of nodes on both sides of a `dumbbell`.
        pairs: Option<u32> = "must be given for it",
        /// Of `waxman`: how likely links are, above 0 and at most 1.
        alpha: Option<f64> = "0.4",
        /// Of `waxman`: how likely long links are compared with short ones, above 0 and at most 1.
        beta: Option<f64> = "0.1",
        /// Of `waxman`: the delay of a link along the whole diagonal; the delays of others are in proportion.
        diagonal_delay: Option<Span> = "50 ms",
        /// Of `barabasi-albert`: links that each new node makes.
        links_each: Option<u32> = "2",
        /// The file, beside the experiment.
        file: Option<String> = "must be given for a kind that is read",
    }

    /// Settings that some nodes share.
    Group as "group" {
        /// Which nodes.
        nodes: Choice,
        /// Their settings; `node.NAME` overrides them.
        set: super::Node,
    }

    /// A change of what a node's processor can do, from some moment on.
    Capacity as "node.capacity" {
        /// When.
        at: Span,
        /// The part of what `cpu` gives it of a core that it then has. Of that a `load` takes its own.
        part: Share,
    }

    /// Controlled delay (RFC 8289) for what waits on a link.
    CoDel as "link.codel" {
        /// How long packets may wait in the long run.
        target: Option<Span> = "5 ms",
        /// For how long that may be exceeded.
        interval: Option<Span> = "100 ms",
        /// Whether packets are marked instead of dropped.
        mark: Option<bool> = "false",
    }

    /// Engines at both ends of a link tell consumers behind it, with each Data, how fast to ask, and forward
    /// their Interests no faster than the Data will fit. For consumers whose controller has the same name.
    RateControl as "link.rate_control" {
        /// `hobhis` or `mircc`.
        method: String,
        /// How many Interests may wait until they may be sent.
        max_held: Option<u32> = "100",
    }

    /// Who answers for all names under a prefix. Virtual time only; real forwarders have `content`.
    Producer as "producer" {
        /// Where it is: a node, a list of nodes, `"all"`, or `{ random = 10 }`.
        at: Choice,
        /// The prefix.
        prefix: String,
        /// The size of each packet as a whole.
        packet: Option<Size> = "by its content",
        /// The bytes of content in each packet.
        content: Option<Size> = "1000 B",
        /// How long a packet counts as fresh in a cache.
        freshness: Option<Span> = "10 s",
        /// How long the producer takes to answer.
        reply_delay: Option<Span> = "0 s",
        /// Publishes a file of this many random bytes under the prefix, signed, in segments, and answers
        /// nothing else.
        file: Option<Size> = "numbered names without end",
        /// How the file's segments are signed: `digest`, which says nothing of who made them; `trusted`, with
        /// an Ed25519 key that consumers with `verify` believe for names under this prefix; or `forged`, with
        /// another key under the trusted one's name, as an attacker would.
        key: Option<String> = "digest",
    }

    /// Who asks, at one node or at many that do the same. Virtual time only; real forwarders have `download`,
    /// `traffic`, `ping` and `flood`.
    Consumer as "consumer" {
        /// `rate`, `window`, `batch` and `zipf` ask for numbered names; `transfer` does so under a controller
        /// of congestion, `file` fetches a published file under one; `workload` asks as a workload says;
        /// `flood` asks for what nobody has.
        kind: String,
        /// Where it is: a node, a list of nodes, `"all"`, or `{ random = 10 }`.
        at: Choice,
        /// The prefix of the names.
        prefix: String,
        /// Interests a second of `rate`, `zipf` and `flood`.
        rate: Option<Frequency> = "must be given for those",
        /// Between Interests of `rate` and `zipf`: `constant`, `uniform` or `poisson` times.
        spacing or "gap": Option<String> = "constant; for `zipf` poisson",
        /// Interests in flight of `window`.
        window: Option<u32> = "must be given for it",
        /// What `batch` asks for, and when.
        batch: Vec<Batch> = "must be given for it",
        /// Objects in the catalogue of `zipf` or `workload`.
        objects: Option<u32> = "must be given for `zipf`",
        /// The exponent of `zipf`.
        exponent: Option<f64> = "0.8",
        /// The shift of `zipf` (Mandelbrot).
        shift: Option<f64> = "0",
        /// A workload by its name and parameters, such as `zipf/rate~100/shift~5`, or one that was added to
        /// the program. Its items are the numbers of the names.
        workload: Option<String> = "must be given for it",
        /// The controller of `transfer` and `file`, such as `aimd`, `bbr` or `fixed/window~50`.
        controller: Option<String> = "cubic",
        /// How many names are asked for.
        items: Option<u64> = "without end; a file is fetched as a whole",
        /// How long an Interest lives.
        lifetime: Option<Span> = "4 s",
        /// How often a name is asked for before it counts as failed.
        attempts: Option<u32> = "its kind's own",
        /// Whether the segments of a `file` are verified before they count, with the keys of producers that
        /// have `key = "trusted"`.
        verify: Option<bool> = "false",
        /// How long checking a signature keeps the node's processor busy, at nodes with a `service_time`.
        signature_time: Option<Span> = "the profile's, for Ed25519; 0 s without one",
        /// The same for each 1,024 bytes that are hashed.
        hash_time: Option<Span> = "the profile's; 0 s without one",
        /// When it begins.
        start: Option<Span> = "0 s",
        /// When it ends.
        stop: Option<Span> = "with the experiment",
    }

    /// Interests that leave at once.
    Batch as "consumer.batch" {
        /// When.
        at: Span,
        /// How many.
        count: u64,
    }

    /// Something that happens to the network: in virtual time, or in namespaces, whose kernel needs netem for
    /// another delay or loss.
    Event as "event" {
        /// When.
        at: Span,
        /// `link-down`, `link-up`, `link-change` (with `rate`, `delay` or `loss`), or `restart` of a node's
        /// forwarder; `partition`, all links between `nodes` and the rest go down, and `heal`, what
        /// partitions have taken down comes back; `route-add` and `route-remove` of a node's route for
        /// `prefix` by its neighbour `towards`; `cpu-change`, from then on a node's share is `cpu`.
        action: String,
        /// The link's name.
        link: Option<String> = "must be given for a link",
        /// The node.
        node: Option<String> = "must be given for `restart`, routes and `cpu-change`",
        /// The nodes on one side.
        nodes: Vec<String> = "must be given for `partition`",
        /// The names that a route is for.
        prefix: Option<String> = "must be given for a route",
        /// The neighbour that a route leads to.
        towards: Option<String> = "must be given for a route",
        /// What a route that is added costs; one that is there already costs this from then on. A forwarder
        /// that restarts has the routes of its begin.
        cost: Option<u32> = "1",
        /// The node's new share of one core. A node with a `load`, which takes a part of its share, has none.
        cpu: Option<Share> = "must be given for `cpu-change`",
        /// The new rate.
        rate: Option<Rate> = "as it was",
        /// The new delay.
        delay: Option<Span> = "as it was",
        /// The new loss.
        loss: Option<Share> = "as it was",
    }

    /// Nodes that move, as links that go down and come back. Routes are of all links (`routes = "all"`), and
    /// a strategy finds out which way leads on.
    Mobility as "mobility" {
        /// A CSV file beside the experiment with a time in seconds, a node and one of its links in each line:
        /// from then on it has that link, and none of the others that the file names for it. Before its first
        /// line a node has the link of that.
        handovers: Option<String> = "`movements` says it",
        /// A file of ns-2's movements (`set X_`, `set Y_`, `setdest`): a link is up while its nodes hear each
        /// other.
        movements: Option<String> = "`handovers` says it",
        /// How far nodes of `movements` hear each other, in metres.
        range: Option<f64> = "must be given for `movements`",
        /// Which nodes the numbers in `movements` are, from 0 on.
        nodes: Vec<String> = "all nodes, in the order of their names",
    }

    /// What a run in virtual time writes down beside what every run does, in `trace/` of each repeat.
    Trace as "trace" {
        /// How often all nodes, faces, links and applications are sampled.
        sample: Option<Span> = "never",
        /// Every packet that arrives over a link.
        packets: Option<bool> = "false",
        /// How long every answer took.
        delays: Option<bool> = "false",
        /// Every number that a consumer reports, such as its window.
        values: Option<bool> = "false",
        /// Every packet that is dropped, and why.
        drops: Option<bool> = "false",
        /// Keep one in this many packets, delays, values and drops.
        one_in: Option<u32> = "1",
        /// Records kept in each table; later ones are lost, and the run says so.
        max_records: Option<u64> = "10,000,000",
        /// `csv` or `parquet`.
        format: Option<String> = "csv",
    }

    /// A link of virtual time whose packets are written to a pcapng file in `trace/` of each repeat. Real
    /// forwarders are captured by `probe`.
    Capture as "capture" {
        /// The link's name.
        link: String,
        /// How many packets.
        max_frames: Option<u64> = "100,000",
    }
}
