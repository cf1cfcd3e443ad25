//! `strategy-choice/list`: which strategy decides under which prefix.

use packet::Name;
use packet::error::DecodeError;

use super::sealed;
use crate::fields::{self, Fields};
use crate::types;

/// A prefix and the strategy chosen for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrategyChoice {
    /// The prefix.
    pub prefix: Name,
    /// Full name of the strategy, with version and parameters.
    pub strategy: Name,
}

impl sealed::Fields for StrategyChoice {
    const KIND: u32 = types::DATASET_ITEM;
    const FIELD: &'static str = "StrategyChoice";

    #[allow(private_interfaces, reason = "sealed")]
    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let strategy = fields.wrapped_name(types::STRATEGY, "Strategy")?;
        Ok(StrategyChoice {
            prefix: fields.required_name()?,
            strategy: strategy.ok_or_else(|| fields.missing("Strategy"))?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        fields::write_name(out, &self.prefix);
        fields::write_wrapped_name(out, types::STRATEGY, &self.strategy);
    }
}
