//! Verifying a sample of what the content store takes in.
//!
//! The engine [takes Data aside](engine::SamplingConfig), the data plane passes it to a thread, and the
//! thread says what it thinks of it. Certificates come by an inner face, as they would to any application
//! here. The data plane never waits: where the thread is behind, fewer samples are taken.

mod service;
mod setup;

pub(crate) use service::VerificationService;
pub(crate) use setup::read;
