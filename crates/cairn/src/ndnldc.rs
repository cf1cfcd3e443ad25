//! The command under the name `ndnldc`: the options of that program, what it prints, and its exit codes, so
//! that scripts made for it go on (NDN-0006, section 3.4).
//!
//! Where it would crash, without ccnd, or read what was never set, without `-n`, it says so and fails.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use client::{Client, Connection, Remote};
use packet::Dialect;
use packet::ccnx::management::{Collection, NdnldConnection, NdnldVerb, Verb};
use packet::ccnx::ndnlp::Flags;
use packet::ccnx::uri;
use trust::ccnx::CcnxSigner;
use trust::{KeyKind, PrivateKey};

use crate::tool::ToolError;
use crate::tool::ndnld::{LinkControl, line, usual};

const USAGE: &str = "\
ndnldc -c -p udp -h 192.0.2.1
ndnldc -c -p udp -h 2001:DB8::1
\tcreate UDP connection
ndnldc -c -p ether -h 08:00:27:01:01:01 -i eth1
\tcreate Ethernet connection
ndnldc -c ... -a -S 100 -C 5 -R 1000 -A 300
\tRLA SentPktsCapacity RetryCount RetransmitTime AcknowledgeTime
ndnldc -d -f 11
\tdestroy connection
ndnldc -l
\tlist connections
ndnldc -r -f 11 -n ccnx:/example
\tregister prefix
ndnldc -u -f 11 -n ccnx:/example
\tunregister prefix
";

/// Options with an argument.
const WITH_ARGUMENT: &str = "phiSCRAfn";
/// Options without.
const ALONE: &str = "cadlru";

/// What the options say; of several verbs the last counts.
#[derive(Debug, Default, PartialEq)]
struct Options {
    verb: Option<NdnldVerb>,
    registration: Option<Verb>,
    lower_protocol: Option<&'static str>,
    host: Option<String>,
    interface: Option<String>,
    acknowledged: bool,
    /// -S, -C, -R, -A.
    numbers: [Option<u32>; 4],
    face: u32,
    prefix: Option<String>,
}

/// Runs as ndnldc. `arguments` are those behind the program's name.
pub(crate) fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
    let options = Options::read(arguments.collect());
    match options.carry_out() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            // Where that cannot be said, the exit code says it.
            let _ = std::io::stderr().write_all(problem.as_bytes());
            ExitCode::FAILURE
        }
    }
}

impl Options {
    /// As getopt reads them: options may stand together, arguments at once behind them, and what is no option
    /// is skipped.
    fn read(arguments: Vec<String>) -> Self {
        let mut options = Options::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                break;
            }
            let Some(letters) = argument.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                continue;
            };
            for (at, letter) in letters.char_indices() {
                if ALONE.contains(letter) {
                    options.set(letter, String::new());
                } else if WITH_ARGUMENT.contains(letter) {
                    let rest = letters.get(at + letter.len_utf8()..).unwrap_or_default();
                    let value = if rest.is_empty() { arguments.next() } else { Some(rest.to_owned()) };
                    match value {
                        Some(value) => options.set(letter, value),
                        None => tell!("ndnldc: option requires an argument -- '{letter}'"),
                    }
                    break;
                } else {
                    tell!("ndnldc: invalid option -- '{letter}'");
                }
            }
        }
        options
    }

    fn set(&mut self, letter: char, value: String) {
        match letter {
            'c' => self.verb = Some(NdnldVerb::Connect),
            'd' => self.verb = Some(NdnldVerb::Disconnect),
            'l' => self.verb = Some(NdnldVerb::ListConnections),
            'r' => self.registration = Some(Verb::PrefixReg),
            'u' => self.registration = Some(Verb::Unreg),
            'p' => {
                let known = ["ether", "udp"].into_iter().find(|known| *known == value);
                self.lower_protocol = known.or(self.lower_protocol);
            }
            'h' => self.host = Some(value),
            'i' => self.interface = Some(value),
            'a' => self.acknowledged = true,
            'f' => self.face = number(&value),
            'n' => self.prefix = Some(value),
            _ => {
                if let Some(place) = "SCRA".find(letter).and_then(|at| self.numbers.get_mut(at)) {
                    *place = Some(number(&value));
                }
            }
        }
    }

    fn request(&self) -> Option<NdnldConnection<'_>> {
        let verb = self.verb?;
        let is_complete = match verb {
            NdnldVerb::Connect => {
                let has_way = match self.lower_protocol {
                    Some("ether") => self.interface.is_some(),
                    other => other.is_some(),
                };
                has_way && self.host.is_some()
            }
            _ => true,
        };
        let [capacity, retries, retransmit, acknowledge] = self.numbers;
        let usual = usual();
        is_complete.then_some(NdnldConnection {
            action: Some(verb.as_str()),
            face_id: Some(self.face),
            lower_protocol: self.lower_protocol,
            host: self.host.as_deref(),
            local_interface: self.interface.as_deref(),
            flags: Some(if self.acknowledged { Flags::ACK_REQUESTED } else { Flags::NONE }),
            sent_packets_capacity: capacity.or(usual.sent_packets_capacity),
            retransmit_count: retries.or(usual.retransmit_count),
            retransmit_millis: retransmit.or(usual.retransmit_millis),
            acknowledge_millis: acknowledge.or(usual.acknowledge_millis),
            status: None,
        })
    }

    /// Does what is asked for; gives what to say if it is not done.
    fn carry_out(&self) -> Result<(), String> {
        if let (Some(verb), Some(request)) = (self.verb, self.request()) {
            let answer = control().and_then(|mut control| control.ask(verb, &request));
            let answer = answer.map_err(|error| words(&error))?.ok_or("ccn_get fails with code -1.")?;
            return show(verb, answer.content());
        }
        match (self.registration, &self.prefix) {
            (Some(verb), Some(prefix)) => {
                let failed = || "CcnH_regPrefix fails.\n".to_owned();
                // It may be written without its scheme.
                let prefix = uri::parse(prefix).map_err(|_| failed())?;
                let mut control = control().map_err(|error| words(&error))?;
                // A refusal is an answer, too, and ndnldc looks no closer; who trusts its exit code is not to
                // be misled.
                let done = control.register(verb, &prefix, self.face).map_err(|error| words(&error))?;
                if done { Ok(()) } else { Err(failed()) }
            }
            _ => {
                let _ = std::io::stdout().write_all(USAGE.as_bytes());
                Err(String::new())
            }
        }
    }
}

/// As atoi reads it, but that what is negative or too large is no number.
fn number(text: &str) -> u32 {
    let digits = text.trim_start();
    let end = digits.find(|other: char| !other.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end).and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn words(error: &ToolError) -> String {
    format!("ndnldc: {error}\n")
}

/// The forwarder on this host. Any key signs, and nobody is to find another one left behind by a script.
fn control() -> Result<LinkControl, ToolError> {
    let remote = Remote::default_forwarder_in(Dialect::Ccnx)?;
    let mut client = Client::over(Connection::open_in(Dialect::Ccnx, &remote)?);
    let signer = CcnxSigner::new(PrivateKey::generate(KeyKind::Rsa)?)?;
    client.sign_requests_with(signer.clone());
    LinkControl::new(client, signer)
}

fn show(verb: NdnldVerb, content: &[u8]) -> Result<(), String> {
    let mut out = std::io::stdout();
    let mut say = |text: String| writeln!(out, "{text}").map_err(|error| format!("ndnldc: {error}\n"));
    if verb != NdnldVerb::ListConnections {
        let told = NdnldConnection::decode(content).map_err(|_| "CMPConn_fromContentObject fails.")?;
        return match verb {
            NdnldVerb::Connect => say(told.face_id.unwrap_or_default().to_string()),
            _ => Ok(()),
        };
    }
    let list = Collection::decode(content).map_err(|_| "Response root is not Collection element.\n")?;
    for item in list.items() {
        let item = NdnldConnection::decode(item).map_err(|_| "CMPConn_readContentObject fails.\n")?;
        say(line(&item))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Options {
        Options::read(line.split_whitespace().map(str::to_owned).collect())
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        let spread = read("-c -p ether -h 08:00:27:01:01:01 -i eth1 -a -S 200 -C 3 -R 500 -A 100");
        assert_eq!(spread, read("-capether -h08:00:27:01:01:01 ignored -ieth1 -S200 -C3 -R500 -A100"));
        let request = spread.request().unwrap();
        assert_eq!((request.action, request.lower_protocol), (Some("connect"), Some("ether")));
        assert_eq!((request.sent_packets_capacity, request.acknowledge_millis), (Some(200), Some(100)));
        assert_eq!(read("-l -- -d").verb, Some(NdnldVerb::ListConnections));
        assert_eq!(read("-l -d -f 11x").request().unwrap().face_id, Some(11));
    }

    #[test]
    fn requests_are_to_the_byte_those_of_ndnldc() {
        let all = testkit::vectors::load("ccnx");
        for (line, name) in [
            ("-c -p udp -h 10.77.0.2", "ndnld-connection-connect-request"),
            ("-l", "ndnld-connection-listconnections-request"),
            ("-d -f 12", "ndnld-connection-disconnect-request"),
        ] {
            let captured = all.iter().find(|vector| vector.name == name).unwrap();
            assert_eq!(read(line).request().unwrap().encode(), captured.bytes, "{line}");
        }
        // And a connection is shown as in the paper.
        let shown = |name: &str| {
            let vector = all.iter().find(|vector| vector.name == name).unwrap();
            line(&NdnldConnection::decode(&vector.bytes).unwrap())
        };
        assert_eq!(shown("ndnld-connection-connect-reply"), "face=8 udp 10.77.0.2");
        let over_ethernet = shown("ndnld-connection-disconnect-reply");
        assert_eq!(over_ethernet, "face=12 ether 02:cc:00:00:00:02 on cx0r RLA");
    }

    #[test]
    fn what_is_not_complete_is_no_request() {
        for incomplete in [
            "",
            "-c",
            "-c -p udp",
            "-c -h 192.0.2.1",
            "-c -p tcp -h 192.0.2.1",
            "-c -p ether -h 08:00:27:01:01:01",
            "-r -f 11",
        ] {
            assert!(read(incomplete).request().is_none(), "{incomplete}");
        }
        for complete in ["-c -p udp -h x", "-d", "-l"] {
            assert!(read(complete).request().is_some(), "{complete}");
        }
    }
}
