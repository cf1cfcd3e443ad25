//! Signed requests of clients: the Interest `/ccnx/<CCNDID>/<verb>/<object>`, whose last component is a whole
//! ContentObject. What is asked for stands in its Content.

use engine::FaceId;
use packet::Now;
use packet::ccnx::management::{StatusResponse, Verb};
use trust::ccnx::signed_content;

use super::Ccnd;
use crate::control::NodeControl;

/// What a request leads to, if it is answered at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The content that says what was done.
    Done(Vec<u8>),
    /// Why it was not.
    Refused(StatusResponse<'static>),
}

impl Answer {
    pub(super) fn refused(code: u32, text: &'static str) -> Option<Self> {
        Some(Answer::Refused(StatusResponse { code, text: Some(text) }))
    }
}

/// A request whose signature holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) verb: Verb,
    /// What its ContentObject holds.
    pub(super) content: &'a [u8],
    /// The face it came by.
    pub(super) from: FaceId,
}

impl Ccnd {
    /// Carries a request out; `None` where ccnd says nothing: to a request that cannot be read or whose
    /// signature does not hold, and to whoever has no right to ask.
    pub(super) fn carry_out(
        &mut self,
        now: Now,
        node: &mut dyn NodeControl,
        verb: Verb,
        object: &[u8],
        from: FaceId,
    ) -> Option<Answer> {
        let from = super::friend(node, from)?.id;
        let content = signed_content(object)?;
        match verb {
            Verb::NewFace => self.make_face(node, content),
            Verb::DestroyFace => self.destroy_face(node, content),
            Verb::PrefixReg | Verb::SelfReg => self.register(now, node, Request { verb, content, from }),
            Verb::Unreg => self.unregister(node, content),
            Verb::SetStrategy | Verb::GetStrategy | Verb::RemoveStrategy => {
                self.choose_strategy(node, verb, content)
            }
        }
    }
}
