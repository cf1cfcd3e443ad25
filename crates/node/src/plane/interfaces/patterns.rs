//! Which interfaces a configuration means: by name, by pattern, by address.

use std::net::IpAddr;
use std::str::FromStr;

use formats::glob;

use crate::config::ConfigError;
use crate::control::MacAddress;
use crate::sys::interfaces::Interface;

/// One word of a list of interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
enum InterfacePattern {
    /// The very name: there must be such an interface.
    Name(String),
    /// A name with `*`, `?` or `[abc]` in it.
    Glob(String),
    /// Its Ethernet address.
    Mac(MacAddress),
    /// An address of it lies in this network.
    Subnet(IpAddr, u8),
}

/// The interfaces that are meant.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    included: Vec<InterfacePattern>,
    excluded: Vec<InterfacePattern>,
}

impl Selection {
    /// Understands the lists of one section.
    pub(crate) fn read(section: &str, included: &[String], excluded: &[String]) -> Result<Self, ConfigError> {
        let read = |key: &str, words: &[String]| {
            let read = |word: &String| {
                let bad = |problem| ConfigError::new(format!("{section}.{key}: {word:?}: {problem}"));
                word.parse::<InterfacePattern>().map_err(bad)
            };
            words.iter().map(read).collect::<Result<Vec<_>, _>>()
        };
        Ok(Selection { included: read("interfaces", included)?, excluded: read("exclude", excluded)? })
    }

    /// A name that no interface has.
    pub(crate) fn missing<'a>(&'a self, all: &[Interface]) -> Option<&'a str> {
        self.included.iter().find_map(|pattern| match pattern {
            InterfacePattern::Name(name) if all.iter().all(|interface| interface.name != *name) => {
                Some(name.as_str())
            }
            _ => None,
        })
    }

    /// Whether interfaces that are not there yet may be meant.
    pub(crate) fn may_grow(&self) -> bool {
        self.included.iter().any(|pattern| !matches!(pattern, InterfacePattern::Name(_)))
    }

    /// Whether the interface is called by its very name, and not excluded.
    pub(crate) fn names(&self, interface: &Interface) -> bool {
        self.included.contains(&InterfacePattern::Name(interface.name.clone())) && !self.excludes(interface)
    }

    /// Whether the interface is meant by a pattern, and not excluded.
    pub(crate) fn matches(&self, interface: &Interface) -> bool {
        self.included.iter().any(|pattern| pattern.matches(interface)) && !self.excludes(interface)
    }

    fn excludes(&self, interface: &Interface) -> bool {
        self.excluded.iter().any(|pattern| pattern.matches(interface))
    }
}

impl InterfacePattern {
    fn matches(&self, interface: &Interface) -> bool {
        match self {
            InterfacePattern::Name(name) => interface.name == *name,
            InterfacePattern::Glob(glob) => {
                glob::matches(glob.as_bytes(), interface.name.as_bytes(), one_matches)
            }
            InterfacePattern::Mac(mac) => interface.mac == Some(*mac),
            InterfacePattern::Subnet(network, bits) => {
                let v4 = interface.v4.iter().map(|ip| IpAddr::from(*ip));
                let mut all = v4.chain(interface.v6.iter().map(|ip| IpAddr::from(*ip)));
                all.any(|ip| starts_alike(ip, *network, *bits))
            }
        }
    }
}

impl FromStr for InterfacePattern {
    type Err = &'static str;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        if let Some((network, bits)) = word.split_once('/') {
            let bad = "a network is an address and its bits, such as 192.0.2.0/24";
            let network: IpAddr = network.parse().map_err(|_| bad)?;
            let most = if network.is_ipv4() { 32 } else { 128 };
            let bits = bits.parse().ok().filter(|bits| *bits <= most).ok_or(bad)?;
            return Ok(InterfacePattern::Subnet(network, bits));
        }
        if let Ok(mac) = word.parse() {
            return Ok(InterfacePattern::Mac(mac));
        }
        match word {
            "" => Err("an interface has a name"),
            _ if word.len() > 200 => Err("no interface has so long a name"),
            _ if word.contains(['*', '?', '[']) => Ok(InterfacePattern::Glob(word.to_owned())),
            _ => Ok(InterfacePattern::Name(word.to_owned())),
        }
    }
}

fn starts_alike(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differing = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        (IpAddr::V6(one), IpAddr::V6(other)) => (one.to_bits() ^ other.to_bits()).leading_zeros(),
        _ => return false,
    };
    differing >= bits.into()
}

/// How much of `glob` stands for this letter, as in the shell: `?` is any letter, `[abc]`, `[a-c]` and
/// `[!abc]` one letter of, or not of, a set. `None` if it stands for others.
fn one_matches(glob: &[u8], letter: u8) -> Option<usize> {
    match glob {
        [b'?', ..] => Some(1),
        [b'[', set @ ..] => {
            // A bracket at the very beginning of the set is one of its letters.
            let end = set.iter().skip(1).position(|other| *other == b']').map(|end| end + 1);
            let Some(end) = end else { return (letter == b'[').then_some(1) };
            let (is_negative, letters) = match set.get(..end)? {
                [b'!' | b'^', rest @ ..] => (true, rest),
                letters => (false, letters),
            };
            let mut rest = letters;
            let mut is_in = false;
            while let [first, more @ ..] = rest {
                rest = match more {
                    [b'-', last, more @ ..] => {
                        is_in |= (*first..=*last).contains(&letter);
                        more
                    }
                    _ => {
                        is_in |= *first == letter;
                        more
                    }
                };
            }
            (is_in != is_negative).then_some(end + 2)
        }
        [other, ..] => (*other == letter).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interface() -> Interface {
        Interface {
            name: "wlp3s0".to_owned(),
            index: 3,
            is_up: true,
            is_loopback: false,
            can_multicast: true,
            mtu_bytes: 1500,
            mac: "02:00:00:00:00:01".parse().ok(),
            v4: vec!["192.0.2.77".parse().unwrap()],
            v6: vec!["2001:db8::7".parse().unwrap()],
        }
    }

    #[test]
    fn interfaces_are_meant_by_name_pattern_and_address() {
        for (word, expected) in [
            ("*", true),
            ("wlp3s0", true),
            ("wlp?s0", true),
            ("w*0", true),
            ("*p*s*", true),
            ("wlp[1-4]s[0]", true),
            ("wlp[!1-4]s0", false),
            ("wlp[", false),
            ("w", false),
            ("w?", false),
            ("en*", false),
            ("02:00:00:00:00:01", true),
            ("02:00:00:00:00:02", false),
            ("192.0.2.0/24", true),
            ("192.0.3.0/24", false),
            ("0.0.0.0/0", true),
            ("2001:db8::/32", true),
            ("2001:db8::7/128", true),
            ("2001:db9::/32", false),
        ] {
            let selection = Selection::read("x", &[word.to_owned()], &[]).unwrap();
            assert_eq!(selection.matches(&interface()), expected, "{word}");
            let all_but = Selection::read("x", &["*".to_owned()], &[word.to_owned()]).unwrap();
            assert_eq!(all_but.matches(&interface()), !expected, "all but {word}");
        }
    }

    #[test]
    fn only_a_name_must_be_there_and_words_that_mean_nothing_are_refused() {
        let read = |word: &str| Selection::read("multicast", &[word.to_owned()], &[]);
        assert_eq!(read("eth7").unwrap().missing(&[interface()]), Some("eth7"));
        for word in ["eth*", "10.0.0.0/8", "02:00:00:00:00:09", "wlp3s0"] {
            assert_eq!(read(word).unwrap().missing(&[interface()]), None, "{word}");
        }
        for word in ["", "300.0.0.0/8", "10.0.0.0/33", "10.0.0.0/", "eth0/1"] {
            assert!(read(word).unwrap_err().problem.starts_with("multicast.interfaces: "), "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_pattern_comes_to_an_end(glob in "[a\\[\\]!*?-]{0,40}", text in "[a\\[\\]-]{0,40}") {
            let matches = glob::matches(glob.as_bytes(), text.as_bytes(), one_matches);
            let simple = !glob.contains(['[', '?', '*']);
            proptest::prop_assert!(!simple || matches == (glob == text));
        }
    }
}
