//! Whether a file of results is as it was written: its last field is a SHA-256 over everything before it. It
//! is not against forgers, who can write the field anew, but against numbers that were mended by hand.

/// The field …
pub(crate) const SEAL: &str = "sha256";
/// … as it is written.
const FIELD: &str = "\"sha256\"";

/// What a seal says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Seal {
    /// There is none, as in results of earlier versions.
    #[default]
    None,
    /// Nothing has changed since.
    Whole,
    /// Something has.
    Broken,
}

fn digest(bytes: &[u8]) -> String {
    packet::hex::encode(&trust::sha256(bytes))
}

/// A JSON object with its seal.
pub(crate) fn sealed(object: &str) -> String {
    let Some(body) = object.trim_end().strip_suffix('}') else { return object.to_owned() };
    let body = body.trim_end();
    let (comma, end) = if body.contains('\n') { (",\n  ", "\n}") } else { (",", "}") };
    format!("{body}{comma}{FIELD}: \"{}\"{end}", digest(body.as_bytes()))
}

/// What the seal of a JSON object says.
pub(crate) fn seal_of(object: &str) -> Seal {
    let Some((body, seal)) = object.rfind(FIELD).and_then(|at| object.split_at_checked(at)) else {
        return Seal::None;
    };
    let Some(body) = body.trim_end().strip_suffix(',') else { return Seal::Broken };
    let rest = seal.strip_prefix(FIELD).unwrap_or_default();
    let noted: String = rest.chars().filter(|letter| !letter.is_whitespace()).collect();
    if noted == format!(":\"{}\"}}", digest(body.as_bytes())) { Seal::Whole } else { Seal::Broken }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digit_that_is_changed_breaks_the_seal_and_one_that_is_behind_it_too() {
        for object in ["{\"a\":1.5}", "{\n  \"a\": 1.5\n}", "{\n  \"a\": 1.5\n}\n"] {
            let whole = sealed(object);
            assert_eq!(seal_of(&whole), Seal::Whole, "{whole}");
            assert_eq!(seal_of(&whole.replace("1.5", "1.6")), Seal::Broken);
            assert_eq!(seal_of(&whole.replace('}', ", \"b\": 1}")), Seal::Broken);
            assert_eq!(seal_of(object), Seal::None);
            let value: serde_json::Value = serde_json::from_str(&whole).unwrap();
            assert!(value["a"] == 1.5 && value["sha256"].is_string());
        }
    }
}
