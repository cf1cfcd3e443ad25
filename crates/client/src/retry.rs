//! Asking a forwarder again: how long it may take, how often it is asked, and when it is given up.

use management::{ControlParameters, ControlResponse};
use packet::time::Duration;

use crate::error::ClientError;
use crate::management_request::{ManagementRequest, NoResponse};
use crate::session::Answer;

/// How long a forwarder may take to answer a command or to tell what it knows, and how often it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How long it may take each time; the Interest lives as long.
    pub timeout: Duration,
    /// How often it is asked before it is given up; none counts as one.
    pub attempts: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        RetryPolicy { timeout: Duration::from_secs(4), attempts: 3 }
    }
}

/// How long to wait before a command is given again that came back: a forwarder that is just starting may
/// have no route to its own management yet.
pub(crate) const COMMAND_RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// How often something is asked for, and what is to be done after an answer: the same for all who wait,
/// whatever way they wait.
#[derive(Debug)]
pub(crate) struct Retries {
    left: u32,
    is_local: bool,
}

/// What follows from an answer.
#[derive(Debug)]
pub(crate) enum RetryStep {
    /// This came.
    Data(packet::Data),
    /// It is asked for again after this time.
    Again(Duration),
    /// It is given up.
    GiveUp(NoResponse),
}

impl Retries {
    pub(crate) fn new(retry_policy: RetryPolicy, is_local: bool) -> Self {
        Retries { left: retry_policy.attempts, is_local }
    }

    pub(crate) fn handle_answer(&mut self, answer: Answer) -> RetryStep {
        let (silence, rest) = match answer {
            Answer::Data(data) => return RetryStep::Data(data),
            Answer::Nack(reason) => {
                (NoResponse::Nack { reason, is_local: self.is_local }, COMMAND_RETRY_INTERVAL)
            }
            Answer::Timeout => (NoResponse::Timeout, Duration::ZERO),
        };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 { RetryStep::GiveUp(silence) } else { RetryStep::Again(rest) }
    }
}

/// The values that are in force after a command, if the forwarder has accepted it; those that it does not
/// tell are left out.
///
/// # Errors
/// It refuses, or its answer makes no sense.
pub fn accepted(
    request: ManagementRequest,
    response: ControlResponse,
) -> Result<ControlParameters, ClientError> {
    let why = match (response.is_ok(), response.parameters()) {
        (true, Ok(parameters)) => return Ok(parameters.unwrap_or_default()),
        (true, Err(error)) => error.into(),
        (false, _) => response.into(),
    };
    Err(ClientError::Refused { what: request, why })
}

/// What a forwarder said to a command that must succeed.
pub(crate) fn must_be_ok(request: &ManagementRequest, response: ControlResponse) -> Result<(), ClientError> {
    if response.is_ok() {
        return Ok(());
    }
    Err(ClientError::Refused { what: request.clone(), why: response.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::NackReason;

    #[test]
    fn what_came_back_is_asked_for_again_after_a_rest_and_given_up_at_last() {
        let mut retries = Retries::new(RetryPolicy::default(), true);
        let nack = || Answer::Nack(NackReason::NoRoute);
        assert!(matches!(retries.handle_answer(nack()), RetryStep::Again(COMMAND_RETRY_INTERVAL)));
        assert!(matches!(retries.handle_answer(Answer::Timeout), RetryStep::Again(Duration::ZERO)));
        let RetryStep::GiveUp(why) = retries.handle_answer(nack()) else { panic!("three times is enough") };
        assert_eq!(why.to_string(), "it came back (no-route)");
        let elsewhere = NoResponse::Nack { reason: NackReason::NoRoute, is_local: false };
        assert!(elsewhere.to_string().contains("localhop"), "{elsewhere}");
    }
}
