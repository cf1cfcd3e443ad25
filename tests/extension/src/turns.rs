//! Each Interest goes to the next hop whose turn it is.

use cairn::engine::{FaceId, Strategy, StrategyContext, StrategyKind};

pub(crate) const TURNS: StrategyKind = StrategyKind {
    word: "turns",
    version: 1,
    start: |parameters| Ok(Box::new(Turns { skip: parameters.count("skip", 0)?, sent: 0 })),
};

/// Next hops in turn.
#[derive(Debug)]
struct Turns {
    skip: u32,
    sent: usize,
}

impl Strategy for Turns {
    fn watches_data(&self) -> bool {
        false
    }

    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let faces: Vec<FaceId> =
            context.eligible_next_hops().skip(self.skip as usize).map(|hop| hop.face).collect();
        if let Some(&face) = faces.get(self.sent % faces.len().max(1)) {
            self.sent += 1;
            context.send(face);
        }
    }
}
