//! What the tools do otherwise when they speak CCNx.

use client::{Client, Clock, Event};
use flow::source::{CcnxDataSigner, Generator};
use flow::verify::{VerificationError, Verifier};
use flow::{SegmentSize, Unverified, UnverifiedKind};
use packet::ccnx::{InterestFields, Ticks};
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Interest, Name, Now};
use trust::ccnx::CcnxSigner;

use super::ToolError;

/// AnswerOriginKind that takes any answer, a stale one too.
pub(crate) const STALE_OR_NOT: u64 = 7;

/// An Interest that lives for so long, with a random nonce.
pub(crate) fn ccnx_interest(
    name: &Name,
    fields: InterestFields<'_>,
    lifetime: Duration,
) -> Result<Interest, ToolError> {
    ccnx_interest_with(name, fields, lifetime, Random::from_seed(Clock::seed()).next_u64())
}

/// The same with a nonce of the caller's.
pub(crate) fn ccnx_interest_with(
    name: &Name,
    fields: InterestFields<'_>,
    lifetime: Duration,
    nonce: u64,
) -> Result<Interest, ToolError> {
    let nonce = nonce.to_be_bytes();
    let lifetime = Some(Ticks::from_duration(lifetime));
    Ok(InterestFields { lifetime, nonce: Some(&nonce), ..fields }.build(name)?)
}

/// Bytes in a segment unless something else is asked for, as ccnseqwriter has them.
pub(crate) const SEGMENT_BYTES: u64 = 4096;

/// Content of the largest object that CCNx's own tools read: 8,800 bytes, less name, key and signature.
const MAX_SEGMENT_BYTES: u64 = 8000;

/// Bytes in each segment but the last.
pub(crate) fn segment_bytes(size: SegmentSize) -> Result<u64, ToolError> {
    match size {
        SegmentSize::Largest | SegmentSize::Packet(_) => Ok(MAX_SEGMENT_BYTES),
        SegmentSize::Content(bytes) if u64::from(bytes) <= MAX_SEGMENT_BYTES => Ok(bytes.into()),
        SegmentSize::Content(_) => {
            let text = format!("--size: a segment of CCNx has at most {MAX_SEGMENT_BYTES} bytes");
            Err(ToolError::Other(text))
        }
    }
}

/// Answers with objects of the very name that was asked for, dated by the system's clock.
pub(crate) fn ccnx_generator(prefix: Name, signer: CcnxSigner) -> Generator<CcnxDataSigner> {
    let clock = Clock::start();
    Generator::new(vec![prefix], CcnxDataSigner::new(signer, move || clock.unix()), Clock::seed())
}

/// Has one packet verified, fetching what that takes; gives why it is refused.
pub(crate) fn verify(
    client: &mut Client,
    verifier: &mut dyn Verifier,
    data: &Data,
) -> Result<Option<VerificationError>, ToolError> {
    let now = |client: &Client| Now { instant: client.now(), unix: client.connection().clock().unix() };
    verifier
        .handle_packet(now(client), Unverified { subject: UnverifiedKind::Discovery, data: data.clone() });
    loop {
        if let Some(outcome) = verifier.poll_outcome() {
            return Ok(outcome.refused);
        }
        if let Some(interest) = verifier.poll_interest(now(client)) {
            let lifetime = interest.lifetime();
            client.express_as_is(interest, lifetime)?;
        }
        let deadline = verifier.next_deadline();
        match client.next(Some(deadline))? {
            Some(Event::Data { data, .. }) => {
                verifier.handle_data(now(client), &data);
            }
            Some(_) => {}
            None if deadline > client.now() => return Err(ToolError::other("interrupted")),
            None => {}
        }
        verifier.handle_timeout(now(client));
    }
}
