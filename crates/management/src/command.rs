//! Commands: Interests whose names say what is to be done, and who says so.

use packet::error::{DecodeError, EncodeError, Rule};
use packet::ndn::tlv::Reader;
use packet::ndn::{InterestBuilder, SignatureInfo, SignatureInfoBuilder, types};
use packet::{Component, ComponentKind, Interest, Name};

use crate::command_scope::CommandScope;
use crate::control_parameters::ControlParameters;
use crate::words::by_words;

by_words! {
    /// What a forwarder can be told to do.
    Command {
        /// Makes a face.
        FacesCreate = "faces" / "create";
        /// Changes a face.
        FacesUpdate = "faces" / "update";
        /// Removes a face.
        FacesDestroy = "faces" / "destroy";
        /// Adds a next hop to the FIB, past the RIB.
        FibAddNextHop = "fib" / "add-nexthop";
        /// Removes a next hop from the FIB, past the RIB.
        FibRemoveNextHop = "fib" / "remove-nexthop";
        /// Changes the content store.
        CsConfig = "cs" / "config";
        /// Erases Data from the content store.
        CsErase = "cs" / "erase";
        /// Chooses a strategy.
        StrategySet = "strategy-choice" / "set";
        /// Takes the choice of a strategy back.
        StrategyUnset = "strategy-choice" / "unset";
        /// Adds a route.
        RibRegister = "rib" / "register";
        /// Removes a route.
        RibUnregister = "rib" / "unregister";
        /// Adds a route by an announcement that the prefix's owner has signed. Has no ControlParameters.
        RibAnnounce = "rib" / "announce";
    }
}

impl Command {
    /// The name of this command without parameters and signature.
    ///
    /// # Errors
    /// None for the names there are.
    pub fn name(self, scope: CommandScope) -> Result<Name, DecodeError> {
        let (module, verb) = self.words();
        scope.name(module, verb)
    }

    /// The Interest that gives this command, to be signed with [`InterestBuilder::build_signed`]. The
    /// signature should hold a nonce and the time, which forwarders may demand.
    ///
    /// ```
    /// use cairn_management::{Command, CommandScope, ControlParameters};
    /// use packet::ndn::{SignatureInfoBuilder, SignatureType};
    /// use sha2::{Digest as _, Sha256};
    ///
    /// let parameters = ControlParameters { name: Some("/A".parse()?), ..Default::default() };
    /// let info =
    ///     SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256).nonce(7).time_ms(1_700_000_000_000);
    /// let command = Command::RibRegister
    ///     .interest(CommandScope::Localhost, &parameters)?
    ///     .build_signed(&info, |signed| Sha256::digest(signed).to_vec())?;
    /// let name = command.name().to_string();
    /// assert!(name.starts_with("/localhost/nfd/rib/register/h%05%07%03%08%01A/params-sha256="));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn interest(
        self,
        scope: CommandScope,
        parameters: &ControlParameters,
    ) -> Result<InterestBuilder, DecodeError> {
        let name = self.name(scope)?.with(Component::generic(&parameters.encode()))?;
        Ok(InterestBuilder::new(name))
    }

    /// The same in the format from before v0.3, in which signature, time and nonce are components of the
    /// name.
    ///
    /// # Errors
    /// More bytes than a name can have.
    pub fn legacy_name(
        self,
        scope: CommandScope,
        parameters: &ControlParameters,
        freshness: LegacyFreshness,
        info: &SignatureInfoBuilder,
        sign: impl FnOnce(&[u8]) -> Vec<u8>,
    ) -> Result<Name, EncodeError> {
        let mut time = Vec::new();
        packet::ndn::tlv::write_nni(&mut time, freshness.time_ms);
        let unsigned = self
            .name(scope)?
            .with(Component::generic(&parameters.encode()))?
            .with(Component::generic(&time))?
            .with(Component::generic(&freshness.nonce.to_be_bytes()))?
            .with(Component::generic(&info.encode_element()))?;
        let signature = sign(unsigned.canonical());
        let mut value = Vec::new();
        packet::ndn::tlv::write_element(&mut value, types::SIGNATURE_VALUE, &signature);
        Ok(unsigned.with(Component::generic(&value))?)
    }
}

/// What makes a command of the old format unlike any before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyFreshness {
    /// Milliseconds since the Unix epoch.
    pub time_ms: u64,
    /// Any number.
    pub nonce: u64,
}

/// How a signed Interest carries its signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureFormat {
    /// In elements of its own, as since packet format v0.3.
    Elements,
    /// In the last four components of its name, as before.
    NameComponents,
}

/// The signature of a command, in whichever format it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSignature<'a> {
    /// The format.
    pub format: SignatureFormat,
    /// Algorithm and key.
    pub info: SignatureInfo<'a>,
    /// The signature itself.
    pub value: &'a [u8],
    /// The bytes it covers.
    pub signed: Vec<u8>,
    /// When it was made, in milliseconds since the Unix epoch.
    pub time_ms: Option<u64>,
    /// A number that is not to come again.
    pub nonce: Option<&'a [u8]>,
}

impl<'a> CommandSignature<'a> {
    /// Reads the signature of `interest`: that of v0.3 if it has one, else that in its name.
    ///
    /// # Errors
    /// Neither is there, or it is malformed. In v0.3 a digest of the parameters that is not last, or not
    /// right, counts as malformed too.
    pub fn of(interest: &'a Interest) -> Result<Self, DecodeError> {
        let missing = DecodeError::new("InterestSignatureInfo", interest.wire().len(), Rule::Missing);
        let Some(view) = interest.ndn() else { return Err(missing) };
        let Some(info) = view.signature_info() else { return Self::in_name(interest) };
        let Some(value) = view.signature_value() else {
            return Err(DecodeError::new("InterestSignatureValue", interest.wire().len(), Rule::Missing));
        };
        let ends_in_digest =
            view.name().last().is_some_and(|last| last.kind == ComponentKind::PARAMETERS_DIGEST);
        if !ends_in_digest || view.parameters_digest_is_valid() != Some(true) {
            return Err(DecodeError::new("ParametersSha256DigestComponent", 0, Rule::Missing));
        }
        let signed = view.signed_portion().ok_or(missing)?.flatten().copied().collect();
        let (time_ms, nonce) = (info.time_ms, info.nonce);
        Ok(CommandSignature { format: SignatureFormat::Elements, info, value, signed, time_ms, nonce })
    }

    fn in_name(interest: &'a Interest) -> Result<Self, DecodeError> {
        let missing = |field| DecodeError::new(field, 0, Rule::Missing);
        let name = interest.ndn().map(|view| view.name()).ok_or_else(|| missing("Name"))?;
        let count = name.component_count();
        let from_end = |place: usize, field| {
            let index = count.checked_sub(place).ok_or_else(|| missing(field))?;
            name.component(index)
                .filter(|component| component.kind == ComponentKind::GENERIC)
                .ok_or_else(|| missing(field))
        };
        let time = from_end(4, "timestamp component")?;
        let nonce = from_end(3, "nonce component")?;
        let info = SignatureInfo::decode_element(from_end(2, "SignatureInfo component")?.value)?;
        let mut reader = Reader::new(from_end(1, "SignatureValue component")?.value, "SignatureValue");
        let value = reader.required(types::SIGNATURE_VALUE, "SignatureValue")?.value;
        reader.finish()?;
        Ok(CommandSignature {
            format: SignatureFormat::NameComponents,
            info,
            value,
            signed: name.prefix(count.saturating_sub(1)).canonical().to_vec(),
            time_ms: Some(time.number().ok_or_else(|| missing("timestamp component"))?),
            nonce: Some(nonce.value),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_found_by_its_words_and_by_no_others() {
        for &command in Command::ALL {
            let (module, verb) = command.words();
            assert_eq!(Command::from_words(module.as_bytes(), verb.as_bytes()), Some(command));
            assert_eq!(Command::from_words(verb.as_bytes(), module.as_bytes()), None);
        }
    }
}
