//! Asks one question and prints the answer: `consumer /lab/hello`.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::trust::SignatureVerifier;
use cairn::{Duration, InterestBuilder, Name};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name: Name = std::env::args().nth(1).ok_or("consumer NAME")?.parse()?;
    let mut client = cairn::connect()?;
    let interest = InterestBuilder::new(name).can_be_prefix(true).must_be_fresh(true);
    let data = client.ask(&interest, Duration::from_secs(4))?;
    // A bare digest says that nothing was damaged, and not who wrote it.
    SignatureVerifier::digest().verify_data(&data)?;
    println!("{}: {}", data.name(), String::from_utf8_lossy(data.content()));
    Ok(())
}
