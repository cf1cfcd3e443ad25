//! Patterns of names, with variables that tie two names together.

use std::str::FromStr;

use packet::{Component, Name, NameRef};
use thiserror::Error;

/// A name with variables: `/blog/{author}/{post**}`.
///
/// | part | stands for |
/// |---|---|
/// | `word`, `seg=0`, … | that very component |
/// | `*` | any one component |
/// | `**` | any number of components, also none |
/// | `{author}` | any one component, the same wherever `{author}` stands |
/// | `{path**}` | any number of components, the same wherever `{path**}` stands |
///
/// At most two parts of a pattern may stand for any number of components, and a match that costs more than
/// 65,536 steps is given up: the packet is refused then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<PatternPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PatternPart {
    Exactly(Name),
    One(Option<String>),
    Many(Option<String>),
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// It does not begin with a slash.
    #[error("{0:?}: a pattern begins with /")]
    NoSlash(String),
    /// A component that is none.
    #[error("{0:?}: {1}")]
    Component(String, String),
    /// A variable without a name, or with an odd one.
    #[error("{0:?}: a variable is written {{name}} or {{name**}}, of letters, digits, - and _")]
    Variable(String),
    /// Too many parts for any number of components.
    #[error("{0:?}: at most two parts may stand for any number of components")]
    TooManyWild(String),
}

/// Steps that one packet may cost, over all rules. A step is a component, or 256 bytes, that is compared. A
/// name as people make them costs some dozens; a stranger's with thousands of components would cost
/// millions where two patterns stand for any number of them.
pub(super) const MAX_STEPS: u32 = 1 << 16;

/// A search for a way to fill the variables of patterns.
#[derive(Debug)]
pub(super) struct Search<'p, 'n> {
    /// What variables stand for: canonical bytes of components.
    bindings: Vec<(&'p str, &'n [u8])>,
    steps_left: u32,
}

/// What goes on once a pattern is matched.
type Accept<'a, 'p, 'n> = &'a mut dyn FnMut(&mut Search<'p, 'n>) -> bool;

impl<'p, 'n> Search<'p, 'n> {
    pub(super) fn new() -> Self {
        Search { bindings: Vec::new(), steps_left: MAX_STEPS }
    }

    /// Whether it was given up.
    pub(super) fn is_exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// Steps taken.
    #[cfg(test)]
    pub(super) fn steps(&self) -> u32 {
        MAX_STEPS - self.steps_left
    }

    /// Takes a step over so many bytes; false if there are none left.
    fn step(&mut self, bytes: usize) -> bool {
        let cost = 1 + u32::try_from(bytes / 256).unwrap_or(u32::MAX);
        self.steps_left = self.steps_left.saturating_sub(cost);
        !self.is_exhausted()
    }

    /// Goes on with `taken` taken by a part, if its variable may stand for that.
    fn bind(
        &mut self,
        variable: Option<&'p str>,
        taken: &'n [u8],
        go_on: impl FnOnce(&mut Self) -> bool,
    ) -> bool {
        if !self.step(taken.len()) {
            return false;
        }
        let Some(variable) = variable else { return go_on(self) };
        match self.bindings.iter().find(|(name, _)| *name == variable) {
            Some((_, bound)) if *bound != taken => false,
            Some(_) => go_on(self),
            None => {
                self.bindings.push((variable, taken));
                let found = go_on(self);
                self.bindings.pop();
                found
            }
        }
    }
}

impl NamePattern {
    /// The prefix of every name that it fits: its components up to the first variable or wildcard, canonical,
    /// and how many they are.
    pub(super) fn literal_prefix(&self) -> (Vec<u8>, usize) {
        let exact = self.parts.iter().map_while(|part| match part {
            PatternPart::Exactly(component) => Some(component),
            PatternPart::One(_) | PatternPart::Many(_) => None,
        });
        exact.fold((Vec::new(), 0), |(mut prefix, count), component| {
            prefix.extend_from_slice(component.canonical());
            (prefix, count + 1)
        })
    }

    /// Matches `name`, and hands every way of filling the variables to `accept` until one is accepted, or
    /// the search has cost too much.
    pub(super) fn matches<'p, 'n>(
        &'p self,
        name: NameRef<'n>,
        search: &mut Search<'p, 'n>,
        accept: Accept<'_, 'p, 'n>,
    ) -> bool {
        match_from(&self.parts, name.canonical(), search, accept)
    }
}

fn match_from<'p, 'n>(
    parts: &'p [PatternPart],
    rest: &'n [u8],
    search: &mut Search<'p, 'n>,
    accept: Accept<'_, 'p, 'n>,
) -> bool {
    let Some((part, later)) = parts.split_first() else {
        return rest.is_empty() && accept(search);
    };
    match part {
        PatternPart::Exactly(component) => match rest.strip_prefix(&**component.canonical()) {
            Some(rest) => search.step(component.canonical().len()) && match_from(later, rest, search, accept),
            None => false,
        },
        PatternPart::One(variable) => match component_len(rest).and_then(|len| rest.split_at_checked(len)) {
            Some((taken, rest)) => {
                search.bind(variable.as_deref(), taken, |search| match_from(later, rest, search, accept))
            }
            None => false,
        },
        // The last part takes all that is left, or there is no match.
        PatternPart::Many(variable) if later.is_empty() => {
            search.bind(variable.as_deref(), rest, |search| match_from(later, &[], search, accept))
        }
        PatternPart::Many(variable) => {
            let mut len = 0;
            loop {
                let Some((taken, left)) = rest.split_at_checked(len) else { return false };
                if search.bind(variable.as_deref(), taken, |search| match_from(later, left, search, accept)) {
                    return true;
                }
                match component_len(left) {
                    Some(more) if !search.is_exhausted() => len += more,
                    _ => return false,
                }
            }
        }
    }
}

/// Bytes of the first component of a canonical name.
fn component_len(name: &[u8]) -> Option<usize> {
    let mut reader = packet::ndn::tlv::Reader::new(name, "Name");
    Some(reader.element().ok()??.end())
}

impl FromStr for NamePattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let path = text.strip_prefix('/').ok_or_else(|| PatternError::NoSlash(text.to_owned()))?;
        let parts: Vec<PatternPart> =
            path.split('/').filter(|part| !part.is_empty()).map(parse_part).collect::<Result<_, _>>()?;
        if parts.iter().filter(|part| matches!(part, PatternPart::Many(_))).count() > 2 {
            return Err(PatternError::TooManyWild(text.to_owned()));
        }
        Ok(NamePattern { parts })
    }
}

fn parse_part(text: &str) -> Result<PatternPart, PatternError> {
    match text {
        "*" => return Ok(PatternPart::One(None)),
        "**" => return Ok(PatternPart::Many(None)),
        _ => {}
    }
    if let Some(inside) = text.strip_prefix('{') {
        let inside = inside.strip_suffix('}').ok_or_else(|| PatternError::Variable(text.to_owned()))?;
        let (name, many) = inside.strip_suffix("**").map_or((inside, false), |name| (name, true));
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(PatternError::Variable(text.to_owned()));
        }
        let name = Some(name.to_owned());
        return Ok(if many { PatternPart::Many(name) } else { PatternPart::One(name) });
    }
    let wrong = |error: String| PatternError::Component(text.to_owned(), error);
    let name: Name =
        format!("/{text}").parse().map_err(|error: packet::name::UriError| wrong(error.to_string()))?;
    let component: Vec<Component<'_>> = name.components().collect();
    if component.len() == 1 { Ok(PatternPart::Exactly(name)) } else { Err(wrong("not one component".into())) }
}
