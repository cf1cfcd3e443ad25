//! Patterns of names, with variables that tie two names together.

use std::collections::BTreeMap;
use std::str::FromStr;

use packet::{Component, Name, NameRef};
use thiserror::Error;

/// A name with holes: `/blog/{author}/{post**}`.
///
/// | piece | stands for |
/// |---|---|
/// | `word`, `seg=0`, … | that very component |
/// | `*` | any one component |
/// | `**` | any number of components, also none |
/// | `{author}` | any one component, the same wherever `{author}` stands |
/// | `{path**}` | any number of components, the same wherever `{path**}` stands |
///
/// At most two pieces of a pattern may stand for any number of components, which bounds the work of a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
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
    /// Too many pieces for any number of components.
    #[error("{0:?}: at most two pieces may stand for any number of components")]
    TooManyWild(String),
}

/// What the variables of a pattern stand for: canonical bytes of components.
pub(super) type Bindings<'a> = BTreeMap<String, &'a [u8]>;

impl Pattern {
    /// Matches `name`, and hands every way of filling the variables to `accept` until one is accepted. Variables in
    /// `bindings` are given.
    pub(super) fn matches<'n>(
        &self,
        name: NameRef<'n>,
        bindings: &Bindings<'n>,
        accept: &mut dyn FnMut(&Bindings<'n>) -> bool,
    ) -> bool {
        match_from(&self.pieces, name.canonical(), bindings, accept)
    }
}

fn match_from<'n>(
    pieces: &[Piece],
    rest: &'n [u8],
    bindings: &Bindings<'n>,
    accept: &mut dyn FnMut(&Bindings<'n>) -> bool,
) -> bool {
    let Some((piece, later)) = pieces.split_first() else {
        return rest.is_empty() && accept(bindings);
    };
    match piece {
        Piece::Exactly(component) => match rest.strip_prefix(&**component.canonical()) {
            Some(rest) => match_from(later, rest, bindings, accept),
            None => false,
        },
        Piece::One(variable) => match component_len(rest) {
            Some(len) => match_bound(variable.as_deref(), rest, len, later, bindings, accept),
            None => false,
        },
        Piece::Many(variable) => {
            let mut len = 0;
            loop {
                if match_bound(variable.as_deref(), rest, len, later, bindings, accept) {
                    return true;
                }
                match component_len(rest.get(len..).unwrap_or_default()) {
                    Some(more) => len += more,
                    None => return false,
                }
            }
        }
    }
}

/// Goes on with the first `len` bytes taken by a piece, if its variable may stand for them.
fn match_bound<'n>(
    variable: Option<&str>,
    rest: &'n [u8],
    len: usize,
    later: &[Piece],
    bindings: &Bindings<'n>,
    accept: &mut dyn FnMut(&Bindings<'n>) -> bool,
) -> bool {
    let Some((taken, rest)) = rest.split_at_checked(len) else { return false };
    match variable.map(|variable| (variable, bindings.get(variable))) {
        Some((_, Some(bound))) if *bound != taken => false,
        Some((variable, None)) => {
            let mut bindings = bindings.clone();
            bindings.insert(variable.to_owned(), taken);
            match_from(later, rest, &bindings, accept)
        }
        _ => match_from(later, rest, bindings, accept),
    }
}

/// Bytes of the first component of a canonical name.
fn component_len(name: &[u8]) -> Option<usize> {
    let mut reader = packet::ndn::tlv::Reader::new(name, "Name");
    Some(reader.element().ok()??.end())
}

impl FromStr for Pattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let path = text.strip_prefix('/').ok_or_else(|| PatternError::NoSlash(text.to_owned()))?;
        let pieces: Vec<Piece> =
            path.split('/').filter(|piece| !piece.is_empty()).map(parse_piece).collect::<Result<_, _>>()?;
        if pieces.iter().filter(|piece| matches!(piece, Piece::Many(_))).count() > 2 {
            return Err(PatternError::TooManyWild(text.to_owned()));
        }
        Ok(Pattern { pieces })
    }
}

fn parse_piece(text: &str) -> Result<Piece, PatternError> {
    match text {
        "*" => return Ok(Piece::One(None)),
        "**" => return Ok(Piece::Many(None)),
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
        return Ok(if many { Piece::Many(name) } else { Piece::One(name) });
    }
    let wrong = |error: String| PatternError::Component(text.to_owned(), error);
    let name: Name =
        format!("/{text}").parse().map_err(|error: packet::name::UriError| wrong(error.to_string()))?;
    let component: Vec<Component<'_>> = name.components().collect();
    if component.len() == 1 { Ok(Piece::Exactly(name)) } else { Err(wrong("not one component".into())) }
}
