//! ControlResponse: how a command went.

use packet::error::{DecodeError, Rule};
use packet::ndn::tlv;

use crate::control_parameters::ControlParameters;
use crate::fields::{self, Fields};
use crate::types;
use crate::values::StatusCode;

/// The answer to a command.
///
/// ```
/// use cairn_management::{ControlParameters, ControlResponse, StatusCode};
/// let done = ControlResponse::ok(&ControlParameters { face_id: Some(261), ..Default::default() });
/// let received = ControlResponse::decode(&done.encode())?;
/// assert_eq!(received.code, StatusCode::Ok);
/// assert_eq!(received.parameters()?.and_then(|parameters| parameters.face_id), Some(261));
/// # Ok::<(), packet::DecodeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlResponse {
    /// Whether it was done.
    pub code: StatusCode,
    /// The same for people.
    pub text: String,
    /// Elements that follow: ControlParameters in all commands there are; may be empty.
    pub body: Vec<u8>,
}

impl ControlResponse {
    /// Success, with the values that are in force now.
    pub fn ok(parameters: &ControlParameters) -> Self {
        ControlResponse { code: StatusCode::Ok, text: "OK".to_owned(), body: parameters.encode() }
    }

    /// A failure without a body.
    pub fn error(code: StatusCode, text: impl Into<String>) -> Self {
        ControlResponse { code, text: text.into(), body: Vec::new() }
    }

    /// The same with the parameters that say more.
    #[must_use]
    pub fn with_body(mut self, parameters: &ControlParameters) -> Self {
        self.body = parameters.encode();
        self
    }

    /// Reads the ControlResponse element that `wire` begins with.
    ///
    /// # Errors
    /// Another element, no status code, or a text that is not UTF-8. A text that is absent counts as empty.
    pub fn decode(wire: &[u8]) -> Result<Self, DecodeError> {
        let fields = Fields::of_element(wire, types::CONTROL_RESPONSE, "ControlResponse")?;
        let code = fields.required_number(types::STATUS_CODE, "StatusCode")?;
        let text = fields.text(types::STATUS_TEXT, "StatusText")?.unwrap_or_default();
        let body = fields
            .elements()
            .filter(|element| !matches!(element.kind, types::STATUS_CODE | types::STATUS_TEXT));
        let body = body.fold(Vec::new(), |mut body, element| {
            tlv::write_element(&mut body, element.kind, element.value);
            body
        });
        Ok(ControlResponse { code: StatusCode::from_number(code), text, body })
    }

    /// The ControlParameters in the body; `None` if it is empty.
    ///
    /// # Errors
    /// The body is something else.
    pub fn parameters(&self) -> Result<Option<ControlParameters>, DecodeError> {
        if self.body.is_empty() { Ok(None) } else { ControlParameters::decode(&self.body).map(Some) }
    }

    /// True for 200.
    pub fn is_ok(&self) -> bool {
        self.code == StatusCode::Ok
    }

    /// The parameters of a successful answer.
    ///
    /// # Errors
    /// The body holds none.
    pub fn expect_parameters(&self) -> Result<ControlParameters, DecodeError> {
        self.parameters()?.ok_or_else(|| DecodeError::new("ControlParameters", 0, Rule::Missing))
    }

    /// The whole element.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        fields::write_container(&mut out, types::CONTROL_RESPONSE, |out| {
            fields::write_number(out, types::STATUS_CODE, Some(self.code.number()));
            fields::write_text(out, types::STATUS_TEXT, Some(&self.text));
            out.extend_from_slice(&self.body);
        });
        out
    }
}
