//! Decodes bytes of a given kind into the words of the vector files, and encodes them again.

use std::fmt::Display;

use cairn_packet::ccnx::content_object::assemble;
use cairn_packet::ccnx::management::{
    Collection, FaceInstance, ForwardingEntry, Link, NdnldConnection, RepositoryInfo, RepositoryPolicy,
    StatusResponse, StrategySelection,
};
use cairn_packet::ccnx::ndnlp::{AckBlock, LinkAck, LinkData, LinkPacket};
use cairn_packet::ccnx::pdu::{unwrap_pdu, wrap_pdu};
use cairn_packet::ccnx::{
    ContentKind, ContentObjectFields, ContentObjectView, Dtag, ExcludeEntry, InterestView, KeyLocator,
    NameSource, PublisherId, PublisherIdKind, Reader, SequenceNumber, message_len, uri,
};
use cairn_packet::{DecodeError, hex};
use sha2::{Digest as _, Sha256};

/// Every kind that [`describe`] knows.
pub(crate) const KINDS: [&str; 15] = [
    "ccnx-interest",
    "ccnx-content",
    "ccnx-pdu",
    "ccnx-sequence-number",
    "ccnx-face-instance",
    "ccnx-forwarding-entry",
    "ccnx-strategy-selection",
    "ccnx-status-response",
    "ccnx-collection",
    "ccnx-link",
    "ccnx-repository-info",
    "ccnx-repository-policy",
    "ndnld-connection",
    "ndnlp1-data",
    "ndnlp1-ack",
];

/// What is in some bytes.
pub(crate) struct Described {
    /// The fields, in the order of the vector files.
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The same packet, encoded in every way there is.
    pub(crate) encodings: Vec<Vec<u8>>,
}

/// Decodes `bytes`, which are of `kind`.
pub(crate) fn describe(kind: &str, bytes: &[u8]) -> Result<Described, DecodeError> {
    let mut fields = Fields::default();
    let encodings = match kind {
        "ccnx-interest" => interest(bytes, &mut fields)?,
        "ccnx-content" => content(bytes, &mut fields)?,
        "ccnx-pdu" => pdu(bytes, &mut fields)?,
        "ccnx-sequence-number" => sequence_number(bytes, &mut fields)?,
        "ccnx-face-instance" => face_instance(bytes, &mut fields)?,
        "ccnx-forwarding-entry" => forwarding_entry(bytes, &mut fields)?,
        "ccnx-strategy-selection" => strategy_selection(bytes, &mut fields)?,
        "ccnx-status-response" => status_response(bytes, &mut fields)?,
        "ccnx-collection" => collection(bytes, &mut fields)?,
        "ccnx-link" => link(bytes, &mut fields)?,
        "ccnx-repository-info" => repository_info(bytes, &mut fields)?,
        "ccnx-repository-policy" => repository_policy(bytes, &mut fields)?,
        "ndnld-connection" => ndnld_connection(bytes, &mut fields)?,
        "ndnlp1-data" | "ndnlp1-ack" => ndnlp(kind, bytes, &mut fields)?,
        _ => panic!("unknown kind {kind}"),
    };
    Ok(Described { fields: fields.0, encodings })
}

#[derive(Default)]
struct Fields(Vec<(&'static str, String)>);

impl Fields {
    fn add(&mut self, key: &'static str, value: impl Display) {
        self.0.push((key, format!("{value}")));
    }

    fn maybe(&mut self, key: &'static str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.add(key, value);
        }
    }

    fn maybe_hex(&mut self, key: &'static str, value: Option<&[u8]>) {
        self.maybe(key, value.map(hex::encode));
    }

    fn name(&mut self, key: &'static str, name: NameSource<'_>) {
        let name = name.to_name().unwrap();
        let components: Vec<String> = name.components().map(|component| text(component.value)).collect();
        self.add(key, format!("ccnx:/{}", components.join("/")));
    }

    fn publisher(&mut self, keys: [&'static str; 4], publisher: Option<PublisherId<'_>>) {
        if let Some(PublisherId { kind, digest }) = publisher {
            let key = match kind {
                PublisherIdKind::PublicKey => keys[0],
                PublisherIdKind::Certificate => keys[1],
                PublisherIdKind::IssuerKey => keys[2],
                PublisherIdKind::IssuerCertificate => keys[3],
            };
            self.add(key, hex::encode(digest));
        }
    }
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(&Sha256::digest(bytes))
}

/// A component as it stands in a URI; very long ones, which are whole objects, only by their length.
fn text(component: &[u8]) -> String {
    if component.len() > 100 {
        return format!("({} bytes)", component.len());
    }
    let mut out = String::new();
    uri::write(&mut out, [component], uri::Escaping::Percent).unwrap();
    out.split_off(1)
}

fn interest(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let view = InterestView::decode(bytes)?;
    let optional = view.fields();
    fields.name("name", view.name().into());
    fields.maybe("min-suffix-components", optional.min_suffix_components);
    fields.maybe("max-suffix-components", optional.max_suffix_components);
    let keys = [
        "publisher-public-key",
        "publisher-certificate",
        "publisher-issuer-key",
        "publisher-issuer-certificate",
    ];
    fields.publisher(keys, view.publisher());
    fields.maybe(
        "exclude",
        view.exclude().map(|exclude| {
            let entries = exclude.entries().map(|entry| match entry {
                ExcludeEntry::Component(component) => format!("/{}", text(component)),
                ExcludeEntry::Any => "Any".to_owned(),
                ExcludeEntry::Bloom(bytes) => format!("Bloom={}", hex::encode(bytes)),
            });
            entries.collect::<Vec<_>>().join(" ")
        }),
    );
    fields.maybe("child-selector", optional.child_selector.map(|selector| selector.number()));
    fields.maybe("answer-origin-kind", optional.answer_origin_kind.map(|kind| kind.bits()));
    fields.maybe("scope", view.scope().map(|scope| scope.number()));
    fields.maybe("interest-lifetime", optional.lifetime.map(|ticks| hex::encode(ticks.as_bytes())));
    fields.maybe_hex("nonce", view.nonce());
    fields.maybe("face-id", view.face_id());
    let canonical = view.name().to_name()?;
    Ok(vec![optional.encode(view.name()).unwrap(), optional.encode(&canonical).unwrap()])
}

fn content(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let view = ContentObjectView::decode(bytes)?;
    let (signature, info) = (view.signature(), view.signed_info());
    fields.name("name", view.name().into());
    fields.maybe("digest-algorithm", signature.digest_algorithm);
    fields.maybe_hex("witness", signature.witness);
    fields.add("signature-bits", hex::encode(signature.bits));
    fields.add("publisher", hex::encode(view.publisher()));
    fields.add("timestamp", hex::encode(view.timestamp().as_bytes()));
    fields.maybe(
        "type",
        info.kind.map(|kind| match kind {
            ContentKind::Data => "DATA".to_owned(),
            ContentKind::Encrypted => "ENCR".to_owned(),
            ContentKind::Gone => "GONE".to_owned(),
            ContentKind::Key => "KEY".to_owned(),
            ContentKind::Link => "LINK".to_owned(),
            ContentKind::Nack => "NACK".to_owned(),
            ContentKind::Other(bytes) => hex::encode(&bytes),
        }),
    );
    fields.maybe("freshness-seconds", view.freshness_seconds());
    fields.maybe("final-block-id", view.final_block_id().map(text));
    match view.key_locator() {
        None => {}
        Some(KeyLocator::Key(key)) => fields.add("key", format!("SHA-256 {}", sha256(key))),
        Some(KeyLocator::Certificate(certificate)) => {
            fields.add("certificate", format!("SHA-256 {}", sha256(certificate)));
        }
        Some(KeyLocator::KeyName { name, publisher }) => {
            fields.name("key-name", name);
            let keys = [
                "key-publisher-public-key",
                "key-publisher-certificate",
                "key-publisher-issuer-key",
                "key-publisher-issuer-certificate",
            ];
            fields.publisher(keys, publisher);
        }
    }
    fields.maybe_hex("ext-opt", info.ext_opt);
    fields.add("content-len", view.content().len());
    let signed = view.signed_range();
    fields.add("signed-range", format!("{}..{}", signed.start, signed.end));
    fields.add("signed-sha256", sha256(&bytes[signed]));
    fields.add("implicit-digest", hex::encode(&view.implicit_digest()));

    let canonical = view.name().to_name()?;
    let encode = |name: NameSource<'_>| {
        let object = ContentObjectFields { name, signed_info: info, content: view.content() };
        assemble(&signature, &object.signed_bytes().unwrap()).unwrap()
    };
    Ok(vec![encode(view.name().into()), encode((&canonical).into())])
}

fn pdu(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let inside = unwrap_pdu(bytes)?;
    let mut rest = inside;
    let mut messages = Vec::new();
    while let Some(len) = message_len(rest)? {
        let (message, behind) = rest.split_at(len);
        messages.push(format!("{} of {len} bytes", element_name(message)));
        rest = behind;
    }
    fields.add("messages", messages.join(", "));
    Ok(vec![wrap_pdu(inside)])
}

fn element_name(bytes: &[u8]) -> Dtag {
    let header = Reader::new(bytes, "element").peek().unwrap();
    Dtag::new(header.number)
}

fn sequence_number(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let number = SequenceNumber::decode(bytes)?;
    fields.add("number", number.get());
    fields.add("width-bytes", number.width_bytes());
    Ok(vec![number.encode()])
}

fn face_instance(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let face = FaceInstance::decode(bytes)?;
    fields.maybe("action", face.action);
    fields.maybe_hex("ccnd-id", face.ccnd_id.map(|id| &id[..]));
    fields.maybe("face-id", face.face_id);
    fields.maybe("ip-protocol", face.ip_protocol.map(|protocol| protocol.0));
    fields.maybe("host", face.host);
    fields.maybe("port", face.port);
    fields.maybe("multicast-interface", face.multicast_interface);
    fields.maybe("multicast-ttl", face.multicast_ttl);
    fields.maybe("freshness-seconds", face.freshness_seconds);
    Ok(vec![face.encode()])
}

fn forwarding_entry(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let entry = ForwardingEntry::decode(bytes)?;
    fields.maybe("action", entry.action);
    fields.name("name", entry.name);
    fields.maybe_hex("ccnd-id", entry.ccnd_id.map(|id| &id[..]));
    fields.maybe("face-id", entry.face_id);
    fields.maybe("forwarding-flags", entry.flags.map(|flags| flags.0));
    fields.maybe("freshness-seconds", entry.freshness_seconds);
    Ok(vec![entry.encode()?])
}

fn strategy_selection(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let selection = StrategySelection::decode(bytes)?;
    fields.maybe("action", selection.action);
    fields.name("name", selection.name);
    fields.maybe_hex("ccnd-id", selection.ccnd_id.map(|id| &id[..]));
    fields.maybe("strategy", selection.strategy);
    fields.maybe("parameters", selection.parameters);
    fields.maybe("freshness-seconds", selection.freshness_seconds);
    Ok(vec![selection.encode()?])
}

fn status_response(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let status = StatusResponse::decode(bytes)?;
    fields.add("status-code", status.code);
    fields.maybe("status-text", status.text);
    Ok(vec![status.encode()])
}

fn collection(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let collection = Collection::decode(bytes)?;
    let (mut items, mut words) = (Vec::new(), Vec::new());
    for item in collection.items() {
        let name = element_name(item);
        if name == Dtag::LINK {
            let link = Link::decode(item)?;
            let target = link.name.to_name()?;
            let target: Vec<String> = target.components().map(|component| text(component.value)).collect();
            words.push(format!("Link ccnx:/{}", target.join("/")));
            items.push(link.encode()?);
        } else {
            words.push(format!("{name} of {} bytes", item.len()));
            items.push(NdnldConnection::decode(item)?.encode());
        }
    }
    fields.add("items", words.join(", "));
    Ok(vec![Collection::encode(&items)])
}

fn link(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let link = Link::decode(bytes)?;
    fields.name("name", link.name);
    fields.maybe("label", link.label);
    Ok(vec![link.encode()?])
}

fn repository_policy(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let policy = RepositoryPolicy::decode(bytes)?;
    fields.add("policy-version", policy.version);
    fields.add("local-name", policy.local_name);
    fields.add("policy-prefix", policy.global_prefix);
    fields.add("namespaces", policy.namespaces.join(" "));
    Ok(vec![policy.encode()])
}

fn repository_info(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let info = RepositoryInfo::decode(bytes)?;
    fields.add("version", info.version);
    fields.add("type", info.kind);
    fields.add("repository-version", info.repository_version);
    fields.name("global-prefix", info.global_prefix);
    fields.add("local-name", info.local_name);
    if let Some(name) = info.name {
        fields.name("name", name);
    }
    fields.maybe("info", info.info);
    Ok(vec![info.encode()?])
}

fn ndnld_connection(bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    let connection = NdnldConnection::decode(bytes)?;
    fields.maybe("action", connection.action);
    fields.maybe("face-id", connection.face_id);
    fields.maybe("lower-protocol", connection.lower_protocol);
    fields.maybe("host", connection.host);
    fields.maybe("local-interface", connection.local_interface);
    fields.maybe("flags", connection.flags.map(|flags| format!("{:04x}", flags.bits())));
    fields.maybe("sent-packets-capacity", connection.sent_packets_capacity);
    fields.maybe("retransmit-count", connection.retransmit_count);
    fields.maybe("retransmit-millis", connection.retransmit_millis);
    fields.maybe("acknowledge-millis", connection.acknowledge_millis);
    fields.maybe("status", connection.status);
    Ok(vec![connection.encode()])
}

fn ndnlp(kind: &str, bytes: &[u8], fields: &mut Fields) -> Result<Vec<Vec<u8>>, DecodeError> {
    match LinkPacket::decode(bytes)? {
        LinkPacket::Data(data) => {
            assert_eq!(kind, "ndnlp1-data");
            let LinkData { sequence, flags, fragment, payload } = data;
            fields.add("sequence", sequence);
            fields.add("flags", format!("{:04x}", flags.bits()));
            fields.add("fragment", format!("{}/{}", fragment.index, fragment.count));
            fields.add("payload-len", payload.len());
            fields.add("payload-sha256", sha256(payload));
            Ok(vec![data.encode()])
        }
        LinkPacket::Ack(ack) => {
            assert_eq!(kind, "ndnlp1-ack");
            let blocks: Vec<AckBlock<'_>> = ack.blocks().collect();
            let words: Vec<String> =
                blocks.iter().map(|block| format!("{}/{}", block.base, hex::encode(block.bitmap))).collect();
            let numbers: Vec<String> = ack.sequences().map(|number| number.to_string()).collect();
            fields.add("blocks", words.join(" "));
            fields.add("acknowledged", numbers.join(" "));
            let mut out = Vec::new();
            LinkAck::encode_into(&blocks, &mut out);
            Ok(vec![out])
        }
    }
}
