//! Two people talk: `chat /room alice bob` on one side, `chat /room bob alice` on the other. Each serves what
//! it says, line by line, and asks for the other's next line, over one connection.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::io::BufRead as _;
use std::sync::{Arc, Mutex, PoisonError};

use cairn::{AskError, DataBuilder, Duration, InterestBuilder, Name, Reply, Signer, answer_with};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [room, me, peer] = &arguments[..] else { return Err("chat ROOM ME PEER".into()) };
    let mine: Name = format!("{room}/{me}").parse()?;
    let said = Arc::new(Mutex::new(Vec::<String>::new()));

    let lines = Arc::clone(&said);
    let own = answer_with(move |interest| {
        // The last component is the number of a line; one that was not said yet is not answered.
        let number =
            interest.name().last().and_then(|last| std::str::from_utf8(last.value).ok()?.parse().ok());
        let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(line) = number.and_then(|number: usize| lines.get(number)) else {
            return Ok(Reply::NoReply);
        };
        let data = DataBuilder::new(interest.name().to_name()).content(line.clone().into_bytes());
        Ok(Reply::Data(Signer::digest().sign_data(&data)?))
    });
    let mut client = cairn::connect()?;
    client.serve(&mine, own)?;
    println!("{me} is in {room}");

    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            said.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        }
    });
    for number in 0.. {
        let next: Name = format!("{room}/{peer}/{number}").parse()?;
        loop {
            match client.ask(&InterestBuilder::new(next.clone()), Duration::from_millis(300)) {
                Ok(data) => break println!("{peer}: {}", String::from_utf8_lossy(data.content())),
                // Not said yet, or nobody there yet.
                Err(AskError::Timeout(_)) => {}
                Err(AskError::Nack { .. }) => client.run(Some(client.now() + Duration::from_millis(100)))?,
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}
