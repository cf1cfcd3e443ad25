//! GML as the Topology Zoo and NetworkX write it (Himsolt, "GML: A portable Graph File Format", 1997): keys
//! and values, of which lists in brackets are one kind.

use super::xml::unescape;
use super::zoo::{Item, assemble};
use super::{Topology, TopologyError};

impl Topology {
    /// Reads GML. Names and delays are as in [`read_graphml`](Topology::read_graphml).
    ///
    /// # Errors
    /// The line that cannot be read, and why.
    pub fn read_gml(text: &str) -> Result<Topology, TopologyError> {
        let mut reader = Reader { rest: text, line: 1 };
        let (mut nodes, mut edges) = (Vec::new(), Vec::new());
        let mut item: Option<(bool, Item)> = None;
        // Lists that are open: a graph is in none, a node in one.
        let mut depth = 0usize;
        let (mut is_in_graph, mut had_graph) = (false, false);
        while let Some(word) = reader.word()? {
            if word == "]" {
                match depth {
                    0 => return Err(reader.error("a ] without a [ before it")),
                    1 => is_in_graph = false,
                    2 => match item.take() {
                        Some((true, node)) => nodes.push(node),
                        Some((false, edge)) => edges.push(edge),
                        None => {}
                    },
                    _ => {}
                }
                depth -= 1;
                continue;
            }
            if !word.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
                return Err(reader.error(format!("a key is a word, not {word:?}")));
            }
            match reader.value(word)? {
                None => {
                    depth += 1;
                    if depth == 1 && word == "graph" {
                        (is_in_graph, had_graph) = (true, true);
                    }
                    if depth == 2 && is_in_graph && matches!(word, "node" | "edge") {
                        item = Some((word == "node", Item { line: reader.line, ..Item::default() }));
                    }
                }
                Some(value) => {
                    let Some((_, item)) = item.as_mut().filter(|_| depth == 2) else { continue };
                    match word {
                        "id" => item.id = Some(value),
                        "source" => item.source = Some(value),
                        "target" => item.target = Some(value),
                        _ => drop(item.values.insert(word.to_owned(), value)),
                    }
                }
            }
        }
        if depth > 0 {
            return Err(reader.error("the text ends within a list; a ] is missing"));
        }
        if !had_graph {
            return Err(reader.error("there is no `graph [`"));
        }
        assemble(&nodes, &edges)
    }
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn error(&self, problem: impl Into<String>) -> TopologyError {
        TopologyError::new(self.line, problem)
    }

    /// Takes so many bytes.
    fn advance(&mut self, len: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(len).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Takes blanks, and comments: lines that begin with `#`.
    fn skip(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if !self.rest.starts_with('#') {
                return;
            }
            self.advance(self.rest.find('\n').unwrap_or(self.rest.len()));
        }
    }

    /// The next word, bracket or number; `None` at the end.
    fn word(&mut self) -> Result<Option<&'a str>, TopologyError> {
        self.skip();
        if self.rest.starts_with(['[', ']']) {
            return Ok(Some(self.advance(1)));
        }
        let ends = |letter: char| letter.is_whitespace() || matches!(letter, '[' | ']' | '"' | '#');
        match self.rest.find(ends).unwrap_or(self.rest.len()) {
            0 if self.rest.is_empty() => Ok(None),
            0 => Err(self.error("a key is a word, not a text in quotes")),
            len => Ok(Some(self.advance(len))),
        }
    }

    /// The value of a key; `None` if it is a list, which begins.
    fn value(&mut self, key: &str) -> Result<Option<String>, TopologyError> {
        self.skip();
        if self.rest.starts_with('"') {
            self.advance(1);
            let Some(end) = self.rest.find('"') else {
                return Err(self.error(format!("the text of `{key}` does not end")));
            };
            let text = unescape(self.advance(end)).map_err(|problem| self.error(problem))?;
            self.advance(1);
            return Ok(Some(text));
        }
        match self.word()? {
            Some("[") => Ok(None),
            Some(value) if value != "]" => Ok(Some(value.to_owned())),
            _ => Err(self.error(format!("`{key}` has no value"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TopologyLink, TopologyNodeId};
    use super::*;
    use proptest::prelude::*;

    const MAP: &str = "\
# as the Topology Zoo has it, in form
graph [
  DateObtained \"3/02/11\"
  directed 0
  node [
    id 0
    label \"London [1]\"
    graphics [ x 1 label \"not its name\" ]
    Longitude 0.0
    Latitude 51.5
  ]
  node [ id 1 label \"Paris &amp; more\" Longitude 2.35 Latitude 48.85 ]
  node [ id 4 label \"Somewhere\" ]
  edge [ source 0 target 1 LinkLabel \"10 Gbps\" LinkSpeedRaw 10000000000.0 ]
  edge [
    source 1
    target 4
  ]
  edge [ source 4 target 4 ]
]
";

    #[test]
    fn nodes_places_and_speeds_are_read() {
        let topology = Topology::read_gml(MAP).unwrap();
        let names: Vec<&str> = topology.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["London [1]", "Paris & more", "Somewhere"]);
        assert_eq!(topology.links.len(), 2);
        assert_eq!(topology.links[0].rate_bits_per_second, Some(10_000_000_000));
        let micros = topology.links[0].delay.unwrap().as_nanos() / 1000;
        assert!((1_650..1_750).contains(&micros), "{micros}");
        assert_eq!(topology.links[1], TopologyLink::between(TopologyNodeId(1), TopologyNodeId(2)));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, said) in [
            ("node [ id 1 ]\n", "line 2: there is no `graph [`"),
            ("graph [\nnode [\nlabel \"a\"\n]\n]", "line 2: a node without an id"),
            ("graph [\nedge [ source 1 target 2 ] ]", "line 2: there is no node \"1\""),
            ("graph [\nnode [ id 1", "line 2: the text ends within a list; a ] is missing"),
            ("graph [ ]\n]", "line 2: a ] without a [ before it"),
            ("graph [\nnode [ id ]", "line 2: `id` has no value"),
            ("graph [\nnode [ id \"1 ] ]", "line 2: the text of `id` does not end"),
            ("graph [ 5 6 ]", "line 1: a key is a word, not \"5\""),
            ("graph [ node [ id 1 label \"a & b\" ] ]", "line 1: & without a ; after it"),
        ] {
            assert_eq!(Topology::read_gml(text).unwrap_err().to_string(), said, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_damaged_file_does_not_panic(place in 0..MAP.len(), len in 0..40usize, put in ".{0,4}") {
            let mut text = MAP.to_owned();
            let end = (place + len).min(text.len());
            if text.is_char_boundary(place) && text.is_char_boundary(end) {
                text.replace_range(place..end, &put);
            }
            let _ = Topology::read_gml(&text);
        }
    }
}
