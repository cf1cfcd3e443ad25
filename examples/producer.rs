//! Answers every question under a prefix: `producer /lab/hello`.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::{DataBuilder, Duration, Name, Reply, Signer, answer_with};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let prefix: Name = std::env::args().nth(1).ok_or("producer PREFIX")?.parse()?;
    let mut client = cairn::connect()?;
    let signer = Signer::digest();
    let mut count = 0;
    let hello = answer_with(move |interest| {
        count += 1;
        let data = DataBuilder::new(interest.name().to_name())
            .freshness(Duration::from_secs(1))
            .content(format!("hello, visitor {count}").into_bytes());
        Ok(Reply::Data(signer.sign_data(&data)?))
    });
    client.serve(&prefix, hello)?;
    println!("answering under {prefix}");
    // Until a signal comes.
    client.run(None)?;
    Ok(())
}
