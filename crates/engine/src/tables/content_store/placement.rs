//! Which of the Data that passes a node is kept there.

use std::fmt;
use std::str::FromStr;

use packet::registry::UnknownWord;

/// Which of the Data that passes a node, and was asked for, is kept there: where in a network copies are
/// left.
///
/// ```
/// use cairn_engine::CachePlacement;
///
/// let placement: CachePlacement = "probability~0.25".parse()?;
/// assert_eq!(placement.to_string(), "probability~0.25");
/// assert_eq!(CachePlacement::default(), "everywhere".parse()?);
/// # Ok::<(), cairn_engine::UnknownWord>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CachePlacement {
    /// All of it (leave copy everywhere).
    #[default]
    Everywhere,
    /// What no node before this one has kept on this way (leave copy down; Laoutaris, Che and Stavrakakis,
    /// "The LCD interconnection of LRU caches and its analysis", 2006). Nodes behind it are told by the
    /// CachePolicy of NDNLPv2; those that keep Data everywhere obey, and do not pass it on.
    LeaveCopyDown,
    /// So much of it, drawn at random.
    Probability(CacheProbability),
    /// What an application on this host waits for.
    LocalConsumers,
    /// What a face has asked for twice, while it has not more than its fair share of the store: against
    /// attackers who fill it with what nobody else wants.
    FairShare,
}

/// With which probability Data is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheProbability {
    /// In parts of 2^53.
    parts: u64,
}

impl CacheProbability {
    const WHOLE: f64 = (1u64 << 53) as f64;

    /// From a number from 0 to 1.
    pub fn new(probability: f64) -> Option<Self> {
        let is_one = (0.0..=1.0).contains(&probability);
        is_one.then_some(CacheProbability { parts: (probability * Self::WHOLE).ceil() as u64 })
    }

    /// As a number from 0 to 1.
    pub fn value(self) -> f64 {
        self.parts as f64 / Self::WHOLE
    }

    /// Whether it is so this time; `drawn` are random bits.
    pub fn is_met(self, drawn: u64) -> bool {
        drawn >> 11 < self.parts
    }
}

impl CachePlacement {
    /// The words for all of them, one with its parameter.
    pub const WORDS: [&str; 5] =
        ["everywhere", "leave-copy-down", "local-consumers", "fair-share", "probability~0.5"];

    /// Whether Data that is sent on says that it was kept.
    pub(crate) fn marks_data(self) -> bool {
        self == CachePlacement::LeaveCopyDown
    }
}

impl fmt::Display for CachePlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CachePlacement::Everywhere => f.write_str("everywhere"),
            CachePlacement::LeaveCopyDown => f.write_str("leave-copy-down"),
            // More digits than these are of the rounding to parts.
            CachePlacement::Probability(probability) => {
                write!(f, "probability~{}", (probability.value() * 1e9).round() / 1e9)
            }
            CachePlacement::LocalConsumers => f.write_str("local-consumers"),
            CachePlacement::FairShare => f.write_str("fair-share"),
        }
    }
}

impl FromStr for CachePlacement {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let probability = || {
            let number = text.strip_prefix("probability~")?.parse().ok()?;
            CacheProbability::new(number).map(CachePlacement::Probability)
        };
        match text {
            "everywhere" => Ok(CachePlacement::Everywhere),
            "leave-copy-down" => Ok(CachePlacement::LeaveCopyDown),
            "local-consumers" => Ok(CachePlacement::LocalConsumers),
            "fair-share" => Ok(CachePlacement::FairShare),
            _ => probability().ok_or_else(|| UnknownWord::new("placement", text, CachePlacement::WORDS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_are_read_as_they_are_written() {
        for text in [
            "everywhere",
            "leave-copy-down",
            "local-consumers",
            "fair-share",
            "probability~0",
            "probability~0.3",
            "probability~1",
        ] {
            assert_eq!(text.parse::<CachePlacement>().unwrap().to_string(), text);
        }
        for text in
            ["", "lcd", "probability", "probability~", "probability~1.1", "probability~-1", "probability~nan"]
        {
            let said = text.parse::<CachePlacement>().unwrap_err().to_string();
            assert!(said.starts_with(&format!("there is no placement {text}; there are ")), "{said}");
        }
    }

    #[test]
    fn a_probability_is_met_by_as_many_draws_as_it_says() {
        let never = CacheProbability::new(0.0).unwrap();
        let always = CacheProbability::new(1.0).unwrap();
        assert!(!never.is_met(0) && always.is_met(u64::MAX));
        let half = CacheProbability::new(0.5).unwrap();
        assert!(half.is_met((1 << 63) - 1) && !half.is_met(1 << 63));
    }
}
