//! Commands of people who may not give any.

use std::io;

use management::{Command, CommandScope, ControlParameters};
use packet::ndn::{SignatureInfoBuilder, SignatureType};

use super::arms::Ports;
use super::{Attack, Field};
use crate::pace::Spent;
use crate::wire::{name, wrong};

const COMMANDS: u64 = 512;

/// Registrations of `/` and of other people's names: signed by nobody, by a forger, with keys that would
/// have to be fetched.
#[derive(Default)]
pub(super) struct Registrations {
    ports: Ports,
    commands: Vec<Vec<u8>>,
    sent: usize,
}

impl Attack for Registrations {
    fn name(&self) -> &'static str {
        "registrations"
    }

    fn about(&self) -> &'static str {
        "commands to register routes, unsigned and forged, for this hop and as if from this host"
    }

    fn begin(&mut self, field: &mut Field) -> io::Result<()> {
        self.ports = Ports::open(8, field.node)?;
        for number in 0..COMMANDS {
            let reach = if number % 3 == 0 { CommandScope::Localhost } else { CommandScope::Localhop };
            let prefix = if number % 2 == 0 { "/" } else { "/honest" };
            let wanted = ControlParameters { name: Some(name(prefix)?), ..ControlParameters::default() };
            let command = Command::RibRegister.interest(reach, &wanted).map_err(wrong)?;
            let command = command.nonce(field.random.next_u32());
            let kind = match number % 4 {
                0 => SignatureType::DIGEST_SHA256,
                1 => SignatureType::ED25519,
                _ => SignatureType::SHA256_WITH_ECDSA,
            };
            let key = name(&format!("/honest/KEY/{number}"))?;
            let info = SignatureInfoBuilder::new(kind).key_name(&key);
            let info = info.nonce(field.random.next_u64()).time_ms(u64::MAX >> 20);
            let wire = if number % 5 == 0 {
                command.build().map_err(wrong)?.into_wire()
            } else {
                command.build_signed(&info, |_| vec![0x30; 64]).map_err(wrong)?.into_wire()
            };
            self.commands.push(wire.to_vec());
        }
        Ok(())
    }

    fn strike(&mut self, _: &mut Field, room: usize) -> io::Result<Spent> {
        let packets: Vec<Vec<u8>> =
            self.commands.iter().cycle().skip(self.sent).take(room).cloned().collect();
        self.sent = (self.sent + room) % self.commands.len().max(1);
        Ok(self.ports.scatter(&packets))
    }
}
