use super::decode_all;
use crate::ccnx::block::{write_close, write_open, write_text_element};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// Policy: what a repository is called and which names it takes (CCNx 0.8, "Repository policies").
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryPolicy<'a> {
    /// Version of this format, `1.5`.
    pub version: &'a str,
    /// What the repository calls itself.
    pub local_name: &'a str,
    /// The URI under which the repository keeps what is its own.
    pub global_prefix: &'a str,
    /// URIs of the prefixes below which it takes objects.
    pub namespaces: Vec<&'a str>,
}

impl<'a> RepositoryPolicy<'a> {
    /// Reads the element that fills `wire`. The URIs in it are not looked into.
    ///
    /// # Errors
    /// Any element but those above in their order.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "Policy", Self::read)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::POLICY, "Policy")?;
        let mut policy = RepositoryPolicy {
            version: reader.text_element(Dtag::POLICY_VERSION, "PolicyVersion")?,
            local_name: reader.text_element(Dtag::LOCAL_NAME, "LocalName")?,
            global_prefix: reader.text_element(Dtag::GLOBAL_PREFIX, "GlobalPrefix")?,
            namespaces: Vec::new(),
        };
        while let Some(namespace) = reader.optional_text(Dtag::NAMESPACE, "Namespace")? {
            policy.namespaces.push(namespace);
        }
        reader.close("Policy")?;
        Ok(policy)
    }

    /// The element's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::POLICY);
        write_text_element(&mut out, Dtag::POLICY_VERSION, self.version);
        write_text_element(&mut out, Dtag::LOCAL_NAME, self.local_name);
        write_text_element(&mut out, Dtag::GLOBAL_PREFIX, self.global_prefix);
        for namespace in &self.namespaces {
            write_text_element(&mut out, Dtag::NAMESPACE, namespace);
        }
        write_close(&mut out);
        out
    }
}
