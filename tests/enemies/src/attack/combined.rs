//! Several attacks at once.

use std::io;

use super::{Attack, Field};
use crate::pace::Spent;

/// Takes turns, so that each attack has its share of the rate.
pub(super) struct Combined {
    name: &'static str,
    about: &'static str,
    parts: Vec<Box<dyn Attack>>,
    next: usize,
}

impl Combined {
    pub(super) fn new(name: &'static str, about: &'static str, parts: Vec<Box<dyn Attack>>) -> Self {
        Combined { name, about, parts, next: 0 }
    }
}

impl Attack for Combined {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn wants_store(&self) -> bool {
        self.parts.iter().any(|part| part.wants_store())
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        // Four attacks open as many sockets as they may; the others share what a fifth would.
        field.descriptors /= 5;
        self.parts.iter_mut().try_for_each(|part| part.begin(field))
    }

    fn strike(&mut self, field: &mut Field, room: usize) -> io::Result<Spent> {
        // An attack with nothing to do for now leaves its turn to the next.
        for _ in 0..self.parts.len() {
            self.next = (self.next + 1) % self.parts.len().max(1);
            let Some(part) = self.parts.get_mut(self.next) else { break };
            let spent = part.strike(field, room)?;
            if spent.packets > 0 {
                return Ok(spent);
            }
        }
        Ok(Spent::default())
    }
}
