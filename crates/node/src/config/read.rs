//! Reading a configuration, and writing a sample of one.

use std::fmt::Write as _;

use thiserror::Error;

use super::section::Key;
use super::{
    CcnxConfig, Config, ContentStoreSection, EthernetConfig, LogConfig, ManagementSection, MetricsConfig,
    MulticastConfig, NodeConfig, TablesConfig, TcpConfig, UdpConfig, UnixConfig, VerificationConfig,
    WebSocketConfig,
};

/// A configuration that cannot be used: where, what is wrong, and what may have been meant.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{problem}", .line.map_or_else(String::new, |line| format!("line {line}: ")))]
pub struct ConfigError {
    /// The line, counted from 1, if the problem has a place.
    pub line: Option<usize>,
    /// What is wrong.
    pub problem: String,
}

impl ConfigError {
    /// A problem without a place in the file.
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        ConfigError { line: None, problem: problem.into() }
    }
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// What is no TOML, a key that does not exist, a value that does not fit.
    pub fn read(text: &str) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let line =
                error.span().map(|span| 1 + text.bytes().take(span.start).filter(|b| *b == b'\n').count());
            ConfigError { line, problem: with_suggestion(error.message()) }
        })
    }

    /// A configuration file with every key, its default and what it is for.
    pub fn sample() -> String {
        let mut text = String::from(
            "# Configuration of a Cairn node. Every key is shown: with its default, which it has if it is left out, and\n\
             # those of lists (`[[face]]` and so on) with an example.\n",
        );
        let defaults = toml::Table::try_from(Config::default()).unwrap_or_default();
        let sections: [(&str, &[&str], &[Key]); 14] = [
            ("node", NodeConfig::ABOUT, NodeConfig::KEYS),
            ("tables", TablesConfig::ABOUT, TablesConfig::KEYS),
            ("content_store", ContentStoreSection::ABOUT, ContentStoreSection::KEYS),
            ("udp", UdpConfig::ABOUT, UdpConfig::KEYS),
            ("multicast", MulticastConfig::ABOUT, MulticastConfig::KEYS),
            ("tcp", TcpConfig::ABOUT, TcpConfig::KEYS),
            ("unix", UnixConfig::ABOUT, UnixConfig::KEYS),
            ("websocket", WebSocketConfig::ABOUT, WebSocketConfig::KEYS),
            ("ethernet", EthernetConfig::ABOUT, EthernetConfig::KEYS),
            ("ccnx", CcnxConfig::ABOUT, CcnxConfig::KEYS),
            ("management", ManagementSection::ABOUT, ManagementSection::KEYS),
            ("verification", VerificationConfig::ABOUT, VerificationConfig::KEYS),
            ("metrics", MetricsConfig::ABOUT, MetricsConfig::KEYS),
            ("log", LogConfig::ABOUT, LogConfig::KEYS),
        ];
        for (name, about, keys) in sections {
            let _ = writeln!(text, "\n#{}\n[{name}]", about.join("\n#"));
            for key in keys {
                let value = defaults.get(name).and_then(|section| section.get(key.name));
                // A key that has no value by default is shown with none.
                let line = match value {
                    Some(value) => format!("{} = {value}", key.name),
                    None => format!("# {} =", key.name),
                };
                let _ = writeln!(text, "#{}\n{line}", key.doc.join("\n#"));
            }
        }
        text.push_str(EXAMPLES);
        text
    }
}

const EXAMPLES: &str = r#"
# Faces to make at the start, with the names that lead there. They are permanent: after a failure they try again.
# [[face]]
# remote = "udp4://192.0.2.1:6363"   # or udp6, tcp4, tcp6, unix, ether; for ccnx also ip4://192.0.2.1, ip6
# routes = ["/example"]
# cost = 10
# persistent = false           # true: the face goes when its socket fails
# local = "dev://eth0"         # for ether:// only
# ndnlp = "acknowledged"       # for ccnx: packets of NDNLP v1, as ndnld sends them; or "plain"
# reliable = true              # for ndn over UDP and Ethernet: what is lost is sent again
# dialect = "ndn"              # or "ccnx", with routes such as "ccnx:/example"
# [face.impairment]            # a bad link on purpose; what is left out is perfect
# direction = "both"           # or "in", or "out"
# delay_micros = 10000
# jitter_micros = 0
# loss = 0.01                  # parts from 0 to 1: loss, reorder, duplicate, corrupt
# reorder_delay_micros = 0
# rate_bits_per_second = 10000000
# queue_bytes = 150000
# seed = 1
# [face.ndnlp_timings]         # for ndnlp: ndnldc's -S, -C, -R, -A
# sent_packets = 100
# retries = 5
# retransmit_millis = 1000
# acknowledge_millis = 300

# Repositories on disks behind the content store: Data that passes by is kept, and answers Interests.
# [[repository]]
# path = "/var/lib/cairn/repository"
# prefixes = ["/"]             # what is kept; names of this host and this link never are
# exclude = ["/example/live"]  # what is not, such as what is of worth only at once
# max_bytes = 8589934592       # when there is more, objects are deleted
# max_objects = 1048576
# max_segments = 1048576       # of one object
# max_objects_of_prefix = 1000 # below one prefix of one component; left out, any number
# eviction = "delete-queue"    # or lru, lfu, gdsf, tiny-lfu, sieve, s3-fifo
# delete_part = 0.25           # what one deletion frees, from 0 to 1
# min_packet_bytes = 0
# max_packet_bytes = 8800      # left out, packets of any size
# min_freshness_millis = 0     # Data that is fresh for less is not kept
# max_waiting = 4096           # Interests that may wait for the disk
# timeout_millis = 100         # and for how long, before they go upstream
# ccnx_namespaces = ["ccnx:/example"]   # names below which CCNx clients may store objects, as in ccnr
# ccnx_clients = "host"        # who may: applications on this host, or "anyone"
# ccnx_anchors = ["/etc/cairn/publisher.key"]   # only what these have signed, whoever hands it over
# ccnx_name = "ccnx:/example/repo"   # where its policy is; left out, the name that ccnr takes
# [repository.cold]            # where volumes go that the folder has no room for
# hot_bytes = 4294967296       # when those in the folder take more, the oldest leave it
# folder = "/mnt/slow"         # another folder; or a bucket of an S3-compatible store:
# endpoint = "https://store.example"
# bucket = "cairn"
# prefix = "edge-1/"           # what names of objects begin with
# region = "us-east-1"
# credentials = "/etc/cairn/s3"   # a file; left out, AWS_ACCESS_KEY_ID and so on of the environment

# Keys whose signed commands are carried out; with one of these, nobody else's are.
# [[authorize]]
# certificate = "/etc/cairn/operator.cert"
# modules = ["faces", "fib", "cs", "strategy-choice", "rib"]   # and "localhop" for routes of neighbours
# delegates = false            # true: keys that this one has certified count as well; their certificates are fetched
# own_names = false            # true: its routes must be for names below the identity of the key that asks for them

# Strategies for the names under a prefix; that of a CCNx name is written "ccnx:/example".
# [[strategy]]
# prefix = "/example"
# strategy = "multicast"
"#;

/// Adds what may have been meant to serde's list of what could have stood there. The error of the parser has
/// a place and a text and no kind, so the text is looked at; where it is another one day, it is told as it
/// is.
fn with_suggestion(message: &str) -> String {
    if message.contains("invalid socket address syntax") {
        return "not a numeric address with a port up to 65535, such as 127.0.0.1:6363 or [::1]:6363"
            .to_owned();
    }
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let Some((unknown, known)) = quoted.split_first().filter(|_| message.starts_with("unknown field")) else {
        return message.to_owned();
    };
    match formats::spelling::nearest(unknown, known.iter().copied()) {
        Some(key) => format!("there is no key `{unknown}`; did you mean `{key}`?"),
        None => format!("there is no key `{unknown}`; there are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_the_default_configuration() {
        let sample = Config::sample();
        assert_eq!(Config::read(&sample), Ok(Config::default()), "{sample}");
        assert_eq!(Config::read(""), Ok(Config::default()));
    }

    #[test]
    fn the_sample_shows_every_key_of_a_repository() {
        let text = "[[repository]]\npath = 'a'\nmax_objects_of_prefix = 1\nmax_packet_bytes = 1\n\
            ccnx_name = 'ccnx:/a'\n[repository.cold]\nhot_bytes = 1\nfolder = 'b'\n";
        let config = Config::read(text).unwrap();
        let sample = Config::sample();
        let written = toml::to_string(&config.repositories[0]).unwrap();
        let keys = written.lines().filter_map(|line| line.split_once(" =")).map(|(key, _)| key);
        for key in keys {
            assert!(sample.contains(&format!("# {key} = ")), "{key} is not in the sample");
        }
        assert!(written.contains("ccnx_namespaces") && written.contains("hot_bytes"), "{written}");
    }

    #[test]
    fn every_key_in_the_sample_has_a_sentence_before_it() {
        let sample = Config::sample();
        let mut before = "";
        for line in sample.lines() {
            let is_key = line.contains(" =") && (!line.starts_with('#') || line.ends_with('='));
            assert!(!is_key || before.starts_with("# ") && before.ends_with(['.', ':']), "{before}\n{line}");
            before = line;
        }
    }

    #[test]
    fn a_key_that_does_not_exist_is_named_with_its_line_and_what_may_have_been_meant() {
        let error = |text| Config::read(text).unwrap_err().to_string();
        assert_eq!(
            error("[node]\nmax_faces = 3\nidle_timeout = 3\n"),
            "line 3: there is no key `idle_timeout`; did you mean `idle_timeout_secs`?"
        );
        assert!(error("[nodes]\n").starts_with("line 1: there is no key `nodes`; did you mean `node`?"));
        assert!(error("[tcp]\n\nxyzzy = 1\n").starts_with("line 3: there is no key `xyzzy`"));
        assert!(error("[node]\nmax_faces = \"many\"\n").starts_with("line 2: invalid type"));
        assert!(error("[node\n").starts_with("line 1: "));
    }

    #[test]
    fn faces_and_strategies_are_lists() {
        let config = Config::read(
            "[[face]]\nremote = 'udp4://192.0.2.1:6363'\nroutes = ['/a', '/b']\n[[strategy]]\nprefix = '/a'\nstrategy = 'asf'\n",
        )
        .unwrap();
        assert_eq!(config.faces[0].routes, ["/a", "/b"]);
        assert_eq!(config.strategies[0].strategy, "asf");
        assert!(Config::read("[[face]]\nroutes = ['/a']\n").unwrap_err().problem.contains("remote"));
    }
}
