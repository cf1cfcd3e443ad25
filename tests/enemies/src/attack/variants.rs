//! Many Interests of one name that differ in their forwarding hints.

use std::io;

use super::arms::Ports;
use super::{Attack, Field};
use crate::honest::{LOCAL, REMOTE, SILENT};
use crate::pace::Spent;
use crate::wire::{TEN_DAYS, Template, numbered};

const VARIANTS: usize = 32;
/// How far ahead of honest people names are taken.
const AHEAD: u64 = 3000;

/// Takes each name that honest people will ask for with 32 hints to somebody who never answers, for ten
/// days.
#[derive(Default)]
pub(super) struct Variants {
    ports: Ports,
    interests: Vec<(&'static str, Vec<Template>)>,
    taken: [u64; 2],
    turn: usize,
}

impl Attack for Variants {
    fn name(&self) -> &'static str {
        "variants"
    }

    fn about(&self) -> &'static str {
        "32 Interests with other forwarding hints for each name that others will ask for, for ten days"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(1, field.node)?;
        for prefix in [LOCAL, REMOTE] {
            let variants = (0..VARIANTS).map(|number| {
                let hint = numbered(SILENT, number as u64)?;
                Template::interest(prefix, |interest| interest.forwarding_hint(vec![hint]).lifetime(TEN_DAYS))
            });
            self.interests.push((prefix, variants.collect::<io::Result<_>>()?));
        }
        Ok(())
    }

    fn strike(&mut self, field: &mut Field, _: usize) -> io::Result<Spent> {
        self.turn = (self.turn + 1) % 2;
        let (Some((prefix, variants)), Some(taken)) =
            (self.interests.get(self.turn), self.taken.get_mut(self.turn))
        else {
            return Ok(Spent::default());
        };
        let next = field.honest.next(prefix);
        *taken = if *taken < next || *taken > next + AHEAD { next } else { *taken + 1 };
        let packets: Vec<Vec<u8>> =
            variants.iter().map(|variant| variant.fresh(*taken, &mut field.random)).collect();
        Ok(self.ports.volley(&packets))
    }
}
