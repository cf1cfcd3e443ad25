//! What parity frames bring where forty share a link, by what each loses.
//!
//! `cargo bench -p cairn-sim --bench parity` prints it; all times are of the simulated network.

#![allow(clippy::print_stdout, reason = "a benchmark prints")]

#[path = "../tests/shared_link/scenario.rs"]
mod scenario;

use std::error::Error;

use self::scenario::{ALONE, LONG, Setting, run};

fn main() -> Result<(), Box<dyn Error>> {
    let fast = Setting { items: LONG, ..ALONE };
    let slow = Setting { items: 8_000, rate: 10.0, queue_packets: 100, ..ALONE };
    let settings = [(fast, 0.0), (fast, 0.001), (fast, 0.01), (fast, 0.05), (slow, 0.0), (slow, 0.01)];
    for (setting, loss) in settings {
        for (seed, parity) in (1..=3).flat_map(|seed| [(seed, false), (seed, true)]) {
            let setting = Setting { seed, loss, parity, ..setting };
            let (one, forty) = (run(&setting)?, run(&Setting { clients: 40, ..setting })?);
            let [one_took, forty_took] = [&one, &forty].map(|run| run.longest().as_secs_f64());
            let ratio = forty_took / one_took;
            println!(
                "{} Mbit/s, loss {loss}, parity {parity}, seed {seed}: one {one_took:.3} s, {:.3} crossings; \
                 forty {forty_took:.3} s, {:.3} crossings; {ratio:.2}",
                setting.rate, one.crossings, forty.crossings
            );
        }
    }
    Ok(())
}
