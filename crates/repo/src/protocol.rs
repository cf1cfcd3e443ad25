//! The messages of ndn-python-repo's protocol, which NDNts speaks as well: commands to insert and delete, and
//! how far they are.
//!
//! A client signs a [`Command`] into a Data of its own, `/<publisher>/msg/<repo>/<verb>/<nonce>`, and tells
//! the repository by a [`Notify`] in an Interest for `/<repo>/<verb>/notify`. The repository fetches the
//! command and what it names. `/<repo>/<verb> check` with a [`Query`] says how far it is: a
//! [`CommandStatus`]. A command is known by the SHA-256 of its bytes. All elements are critical, whatever
//! their numbers say.

use packet::error::{DecodeError, Rule};
use packet::ndn::tlv::{self, Element, Reader};
use packet::ndn::types::NAME;
use packet::{Component, Name, NameRef};

const NONCE: u32 = 128;
const START_BLOCK: u32 = 204;
const END_BLOCK: u32 = 205;
const REQUEST: u32 = 206;
const STATUS_CODE: u32 = 208;
const INSERTED: u32 = 209;
const DELETED: u32 = 210;
const FORWARDING_HINT: u32 = 211;
const REGISTER_PREFIX: u32 = 212;
const OBJECT: u32 = 301;
const OBJECT_STATUS: u32 = 302;

/// Objects of one command, at most.
pub const MAX_OBJECTS: usize = 1024;
/// Bytes of a nonce, at most; clients take four.
const MAX_NONCE_BYTES: usize = 32;

/// How a command or an object of it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u64);

impl Code {
    /// The command is accepted, the object not begun.
    pub const ACCEPTED: Code = Code(100);
    /// Done.
    pub const COMPLETED: Code = Code(200);
    /// Under way.
    pub const IN_PROGRESS: Code = Code(300);
    /// Some of it could not be done.
    pub const FAILED: Code = Code(400);
    /// What is asked for makes no sense, or is not allowed.
    pub const MALFORMED: Code = Code(403);
    /// No such command is known.
    pub const NOT_FOUND: Code = Code(404);
}

/// Says that there is a command to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notify {
    /// The prefix of whoever has it.
    pub publisher: Name,
    /// Which.
    pub nonce: Vec<u8>,
    /// Where the publisher can be reached, if routes do not tell.
    pub hint: Option<Name>,
}

/// One object of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectCommand {
    /// Its name without segment number, or the name of a packet.
    pub name: Name,
    /// Where its publisher can be reached, if routes do not tell.
    pub hint: Vec<Name>,
    /// The first segment.
    pub start: Option<u64>,
    /// The last segment.
    pub end: Option<u64>,
    /// A prefix to be registered, or not any longer.
    pub register: Option<Name>,
}

/// What is to be inserted or deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The objects, in their order.
    pub objects: Vec<ObjectCommand>,
}

/// Asks how far a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The SHA-256 of its bytes.
    pub request: [u8; 32],
}

/// How far an object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectStatus {
    /// Its name.
    pub name: Name,
    /// How it is.
    pub code: Code,
    /// Packets inserted.
    pub inserted: Option<u64>,
    /// Packets deleted.
    pub deleted: Option<u64>,
}

/// How far a command is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStatus {
    /// All of it.
    pub code: Code,
    /// Each object.
    pub objects: Vec<ObjectStatus>,
}

/// Which packets of an object a command means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The packet of just this name.
    Packet,
    /// Segments from here on, up to the last one that there is.
    From(u64),
    /// Segments from the first to the last.
    Segments(u64, u64),
}

impl ObjectCommand {
    /// All segments of this object, from the first on.
    pub fn whole(name: Name) -> Self {
        ObjectCommand { name, hint: Vec::new(), start: Some(0), end: None, register: None }
    }

    /// What is meant; `None` if it makes no sense, or names what belongs to the repository itself.
    pub fn extent(&self, repository: NameRef<'_>) -> Option<Extent> {
        let name = self.name.as_ref();
        if name.is_prefix_of(repository) || repository.is_prefix_of(name) {
            return None;
        }
        match (self.start, self.end) {
            (None, None) => Some(Extent::Packet),
            (Some(start), None) => Some(Extent::From(start)),
            (start, Some(end)) => {
                let start = start.unwrap_or(0);
                (start <= end).then_some(Extent::Segments(start, end))
            }
        }
    }
}

/// `/<repo>/<verb>/notify`, the prefix of Interests that say that there is a command.
///
/// # Errors
/// The name becomes too long.
pub fn notify_prefix(repository: &Name, verb: &str) -> Result<Name, DecodeError> {
    topic(repository, verb)?.with(Component::generic(b"notify"))
}

/// `/<repo>/<verb> check`, the prefix of Interests that ask how far a command is.
///
/// # Errors
/// The name becomes too long.
pub fn check_prefix(repository: &Name, verb: &str) -> Result<Name, DecodeError> {
    repository.with(Component::generic(format!("{verb} check").as_bytes()))
}

/// `/<publisher>/msg/<repo>/<verb>/<nonce>`, where a command is.
///
/// # Errors
/// The name becomes too long.
pub fn message_name(
    publisher: &Name,
    repository: &Name,
    verb: &str,
    nonce: &[u8],
) -> Result<Name, DecodeError> {
    let mut name = publisher.with(Component::generic(b"msg"))?;
    for component in topic(repository, verb)?.as_ref().components() {
        name = name.with(component)?;
    }
    name.with(Component::generic(nonce))
}

fn topic(repository: &Name, verb: &str) -> Result<Name, DecodeError> {
    repository.with(Component::generic(verb.as_bytes()))
}

impl Notify {
    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "NotifyAppParam");
        let publisher = tlv::read_name(reader.required(NAME, "Name")?)?;
        let nonce = reader.required(NONCE, "NotifyNonce")?;
        if nonce.value.is_empty() || nonce.value.len() > MAX_NONCE_BYTES {
            return Err(wrong(nonce, "NotifyNonce"));
        }
        let hint = reader.optional(FORWARDING_HINT)?;
        let hint = hint.map(|hint| names_in(&reader, hint)).transpose()?;
        reader.finish()?;
        Ok(Notify {
            publisher,
            nonce: nonce.value.to_vec(),
            hint: hint.and_then(|names| names.into_iter().next()),
        })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        tlv::write_name(&mut out, &self.publisher);
        tlv::write_element(&mut out, NONCE, &self.nonce);
        if let Some(hint) = &self.hint {
            tlv::write_container(&mut out, FORWARDING_HINT, |out| tlv::write_name(out, hint));
        }
        out
    }
}

impl Command {
    /// Reads one.
    ///
    /// # Errors
    /// It is none, names nothing, or too much.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "RepoCommandParam");
        let mut objects = Vec::new();
        while !reader.is_empty() {
            let element = reader.required(OBJECT, "ObjParam")?;
            if objects.len() == MAX_OBJECTS {
                return Err(wrong(element, "ObjParam"));
            }
            objects.push(read_object(reader.inside(element, "ObjParam"))?);
        }
        if objects.is_empty() {
            return Err(DecodeError::new("ObjParam", reader.position(), Rule::Missing));
        }
        Ok(Command { objects })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for object in &self.objects {
            tlv::write_container(&mut out, OBJECT, |out| {
                tlv::write_name(out, &object.name);
                if !object.hint.is_empty() {
                    tlv::write_container(out, FORWARDING_HINT, |out| {
                        object.hint.iter().for_each(|name| tlv::write_name(out, name));
                    });
                }
                tlv::write_optional_nni(out, START_BLOCK, object.start);
                tlv::write_optional_nni(out, END_BLOCK, object.end);
                if let Some(prefix) = &object.register {
                    tlv::write_container(out, REGISTER_PREFIX, |out| tlv::write_name(out, prefix));
                }
            });
        }
        out
    }
}

fn read_object(mut reader: Reader<'_>) -> Result<ObjectCommand, DecodeError> {
    let name = tlv::read_name(reader.required(NAME, "Name")?)?;
    let hint = reader.optional(FORWARDING_HINT)?;
    let hint = hint.map(|hint| names_in(&reader, hint)).transpose()?.unwrap_or_default();
    let start = number_in(reader.optional(START_BLOCK)?, "StartBlockId")?;
    let end = number_in(reader.optional(END_BLOCK)?, "EndBlockId")?;
    let register = match reader.optional(REGISTER_PREFIX)? {
        Some(element) => names_in(&reader, element)?.into_iter().next(),
        None => None,
    };
    reader.finish()?;
    Ok(ObjectCommand { name, hint, start, end, register })
}

impl Query {
    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "RepoStatQuery");
        let element = reader.required(REQUEST, "RequestNo")?;
        let request = element.value.try_into().map_err(|_| wrong(element, "RequestNo"))?;
        reader.finish()?;
        Ok(Query { request })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        tlv::write_element(&mut out, REQUEST, &self.request);
        out
    }
}

impl CommandStatus {
    /// That of a command that is not known.
    pub fn not_found() -> Self {
        CommandStatus { code: Code::NOT_FOUND, objects: Vec::new() }
    }

    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(wire, "RepoCommandRes");
        let code = Code(tlv::read_nni(reader.required(STATUS_CODE, "StatusCode")?, "StatusCode")?);
        let mut objects = Vec::new();
        while !reader.is_empty() {
            let element = reader.required(OBJECT_STATUS, "ObjStatus")?;
            let mut inner = reader.inside(element, "ObjStatus");
            let name = tlv::read_name(inner.required(NAME, "Name")?)?;
            let code = Code(tlv::read_nni(inner.required(STATUS_CODE, "StatusCode")?, "StatusCode")?);
            let inserted = number_in(inner.optional(INSERTED)?, "InsertNum")?;
            let deleted = number_in(inner.optional(DELETED)?, "DeleteNum")?;
            inner.finish()?;
            objects.push(ObjectStatus { name, code, inserted, deleted });
        }
        Ok(CommandStatus { code, objects })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        tlv::write_optional_nni(&mut out, STATUS_CODE, Some(self.code.0));
        for object in &self.objects {
            tlv::write_container(&mut out, OBJECT_STATUS, |out| {
                tlv::write_name(out, &object.name);
                tlv::write_optional_nni(out, STATUS_CODE, Some(object.code.0));
                tlv::write_optional_nni(out, INSERTED, object.inserted);
                tlv::write_optional_nni(out, DELETED, object.deleted);
            });
        }
        out
    }
}

fn wrong(element: Element<'_>, field: &'static str) -> DecodeError {
    DecodeError::new(field, element.value_start, Rule::UnexpectedType(element.kind.into()))
}

/// The names inside an element.
fn names_in(reader: &Reader<'_>, element: Element<'_>) -> Result<Vec<Name>, DecodeError> {
    let mut inner = reader.inside(element, "Name");
    let mut names = Vec::new();
    while !inner.is_empty() {
        names.push(tlv::read_name(inner.required(NAME, "Name")?)?);
    }
    Ok(names)
}

fn number_in(element: Option<Element<'_>>, field: &'static str) -> Result<Option<u64>, DecodeError> {
    element.map(|element| tlv::read_nni(element, field)).transpose()
}

#[cfg(test)]
mod tests {
    use testkit::bytes::hex;

    use super::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    /// What `putfile.py` of ndn-python-repo 0.4 sent: /data/f in segments 0 and 1.
    const COMMAND: &str = "fd012d1e 0709 080464617461 080166 cc0100 cd0101 d40b 0709 080464617461 080166";

    #[test]
    fn messages_are_those_of_ndn_python_repo() {
        let notify = hex("0704 0802636c 8004 5c51a5cd");
        let expected = Notify { publisher: name("/cl"), nonce: hex("5c51a5cd"), hint: None };
        assert_eq!((Notify::decode(&notify), expected.encode()), (Ok(expected.clone()), notify));

        let object = ObjectCommand {
            name: name("/data/f"),
            hint: Vec::new(),
            start: Some(0),
            end: Some(1),
            register: Some(name("/data/f")),
        };
        let command = Command { objects: vec![object] };
        assert_eq!((Command::decode(&hex(COMMAND)).as_ref(), command.encode()), (Ok(&command), hex(COMMAND)));

        let status = |code, object_code, inserted| CommandStatus {
            code,
            objects: vec![ObjectStatus {
                name: name("/data/f"),
                code: object_code,
                inserted: Some(inserted),
                deleted: None,
            }],
        };
        for (text, expected) in [
            (
                "d002012c fd012e12 0709080464617461080166 d002012c d10100",
                status(Code::IN_PROGRESS, Code::IN_PROGRESS, 0),
            ),
            (
                "d001c8 fd012e11 0709080464617461080166 d001c8 d10102",
                status(Code::COMPLETED, Code::COMPLETED, 2),
            ),
        ] {
            assert_eq!(
                (CommandStatus::decode(&hex(text)), expected.encode()),
                (Ok(expected.clone()), hex(text))
            );
        }
        let query = hex("ce20 740b9263e7befc55c2899d6677b58d193bfbc85064e8083309e5d7c31977ee34");
        assert_eq!(Query::decode(&query).unwrap().encode(), query);
    }

    #[test]
    fn what_is_not_known_or_out_of_order_is_refused() {
        for text in
            ["", "0703080141", "fd012d00", "fd012d0b 0703080141 cd0109 cc0100", "fd012d07 0703080141 ea00"]
        {
            assert!(Command::decode(&hex(text)).is_err(), "{text}");
        }
        assert!(Notify::decode(&hex("0703080141 8000")).is_err());
        assert!(Query::decode(&hex("ce02 0102")).is_err());
        let many = Command { objects: vec![ObjectCommand::whole(name("/a")); MAX_OBJECTS + 1] };
        assert!(Command::decode(&many.encode()).is_err());
    }

    #[test]
    fn ids_say_what_is_meant_and_the_repository_s_own_names_are_nobody_s() {
        let extent = |object: &str, start, end| {
            let object = ObjectCommand { start, end, ..ObjectCommand::whole(name(object)) };
            object.extent(name("/r/x").as_ref())
        };
        assert_eq!(extent("/a", None, None), Some(Extent::Packet));
        assert_eq!(extent("/a", Some(3), None), Some(Extent::From(3)));
        assert_eq!(extent("/a", None, Some(3)), Some(Extent::Segments(0, 3)));
        assert_eq!(extent("/a", Some(4), Some(3)), None);
        assert_eq!([extent("/r", None, None), extent("/r/x/y", None, None)], [None, None]);
    }

    #[test]
    fn names_are_those_that_clients_use() {
        let repo = name("/R");
        assert_eq!(notify_prefix(&repo, "insert"), Ok(name("/R/insert/notify")));
        assert_eq!(check_prefix(&repo, "insert"), Ok(name("/R/insert%20check")));
        let message = message_name(&name("/cl"), &repo, "delete", b"abcd");
        assert_eq!(message, Ok(name("/cl/msg/R/delete/abcd")));
    }
}
