//! Golden vectors: packets as annotated text files under `vectors/` at the root of the repository.
//!
//! A file starts with header lines `;; key: value` and goes on with hexadecimal digits, in which white space
//! means nothing and `;` starts a comment up to the end of the line. Two keys stand in every file: `source`
//! says which implementation produced the bytes, or that they are a worked example, and `kind` says what they
//! are. The other keys are what a decoder must find, or `error` and `error-at`, what it must complain about
//! and at which byte. A key stands at most once.
//!
//! ```
//! let text = "\
//! ;; source: worked example
//! ;; kind: ndn-interest
//! ;; name: /A
//! 05 05 ; Interest
//!   0703080141 ; Name /A
//! ";
//! let vector = cairn_testkit::vectors::Vector::parse("example", text)?;
//! assert_eq!(vector.get("name"), Some("/A"));
//! assert_eq!(vector.bytes, [0x05, 0x05, 0x07, 0x03, 0x08, 0x01, 0x41]);
//! # Ok::<(), String>(())
//! ```

use std::fs;
use std::path::PathBuf;

/// One golden vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The file's name without its extension.
    pub name: String,
    /// Keys and values of the header, in the order of the file.
    pub header: Vec<(String, String)>,
    /// The packet.
    pub bytes: Vec<u8>,
}

impl Vector {
    /// Reads the text of the vector called `name`.
    ///
    /// # Errors
    /// A sentence with the number of the line that is wrong, or the key that is missing.
    pub fn parse(name: &str, text: &str) -> Result<Vector, String> {
        let mut vector = Vector { name: name.to_owned(), header: Vec::new(), bytes: Vec::new() };
        for (line, number) in text.lines().zip(1..) {
            vector.parse_line(line).map_err(|what| format!("{name}, line {number}: {what}"))?;
        }
        for key in ["source", "kind"] {
            if vector.get(key).is_none() {
                return Err(format!("{name}: there is no line `;; {key}: …`"));
            }
        }
        Ok(vector)
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.header.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// What the bytes are.
    pub fn kind(&self) -> &str {
        self.get("kind").unwrap_or_default()
    }

    fn parse_line(&mut self, line: &str) -> Result<(), String> {
        if let Some(header) = line.strip_prefix(";;") {
            let (key, value) = header.split_once(':').ok_or("a header line needs a colon")?;
            let (key, value) = (key.trim(), value.trim());
            if self.get(key).is_some() {
                return Err(format!("`{key}` stands here for the second time"));
            }
            self.header.push((key.to_owned(), value.to_owned()));
            return Ok(());
        }
        let code = line.split(';').next().unwrap_or_default();
        let mut high = None;
        for digit in code.chars().filter(|c| !c.is_whitespace()) {
            let value = digit.to_digit(16).ok_or_else(|| format!("{digit:?} is no hexadecimal digit"))? as u8;
            match high.take() {
                None => high = Some(value),
                Some(high) => self.bytes.push(high << 4 | value),
            }
        }
        if high.is_some() { Err("half a byte is left over".to_owned()) } else { Ok(()) }
    }
}

/// All vectors in the folder `vectors/<dialect>`, in the order of their names.
///
/// # Panics
/// If the folder cannot be read, a file in it is not a vector, or there is none: a test without vectors tests
/// nothing.
pub fn load(dialect: &str) -> Vec<Vector> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "vectors", dialect].iter().collect();
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) => panic!("{}: {error}", folder.display()),
    };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{}: no vectors", folder.display());
    files.iter().map(load_file).collect()
}

fn load_file(path: &PathBuf) -> Vector {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let vector = fs::read_to_string(path)
        .map_err(|error| format!("{}: {error}", path.display()))
        .and_then(|text| Vector::parse(&name, &text));
    match vector {
        Ok(vector) => vector,
        Err(error) => panic!("{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = ";; source: worked example\n;; kind: test\n";

    fn parse(body: &str) -> Result<Vector, String> {
        Vector::parse("v", &format!("{HEADER}{body}"))
    }

    #[test]
    fn digits_may_be_split_by_white_space_but_not_by_lines() {
        assert_eq!(parse("0 1 0203 ; ff\n  a\tB\n\n; only a comment\n").unwrap().bytes, [1, 2, 3, 0xab]);
        assert_eq!(parse("0\n1\n").unwrap_err(), "v, line 3: half a byte is left over");
        assert_eq!(parse("0x\n").unwrap_err(), "v, line 3: 'x' is no hexadecimal digit");
    }

    #[test]
    fn a_value_may_be_empty_or_hold_colons_but_a_key_stands_once() {
        let vector = parse(";; nonce: 1: one\n;; content:\n").unwrap();
        assert_eq!((vector.get("nonce"), vector.get("content")), (Some("1: one"), Some("")));
        assert_eq!((vector.get("name"), vector.kind()), (None, "test"));
        assert_eq!(parse(";; nonsense\n").unwrap_err(), "v, line 3: a header line needs a colon");
        assert_eq!(
            parse(";; kind: again\n").unwrap_err(),
            "v, line 3: `kind` stands here for the second time"
        );
    }

    #[test]
    fn source_and_kind_must_be_there() {
        assert!(Vector::parse("v", ";; kind: test\n").unwrap_err().contains("source"));
        assert!(Vector::parse("v", ";; source: test\n").unwrap_err().contains("kind"));
    }
}
