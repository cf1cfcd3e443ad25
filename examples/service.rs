//! A service whose answers are signed, and a client that believes nobody else: `service run /lab/sum FILE`
//! writes its certificate to a file; `service ask /lab/sum FILE 2 3` asks for a sum.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::{
    Certificate, DataBuilder, Duration, Identity, InterestBuilder, Name, NameRef, Reply, answer_with,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["run", prefix, certificate] => run(&prefix.parse()?, certificate),
        ["ask", prefix, certificate, a, b] => ask(&format!("{prefix}/{a}/{b}").parse()?, certificate),
        _ => Err("service run PREFIX FILE | service ask PREFIX FILE A B".into()),
    }
}

fn run(prefix: &Name, file: &str) -> Outcome {
    let identity = Identity::anchor(prefix)?;
    std::fs::write(file, identity.certificate.data().wire())?;
    let sums = answer_with(move |interest| {
        let Some(sum) = sum(interest.name()) else { return Ok(Reply::NoReply) };
        let data = DataBuilder::new(interest.name().to_name()).content(sum.to_string().into_bytes());
        Ok(Reply::Data(identity.signer.sign_data(&data)?))
    });
    let mut client = cairn::connect()?;
    client.serve(prefix, sums)?;
    println!("summing under {prefix}");
    Ok(client.run(None)?)
}

/// The sum of the last two components.
fn sum(name: NameRef<'_>) -> Option<u64> {
    let count = name.component_count();
    let number = |place| std::str::from_utf8(name.component(place)?.value).ok()?.parse::<u64>().ok();
    number(count.checked_sub(2)?)?.checked_add(number(count - 1)?)
}

fn ask(question: &Name, file: &str) -> Outcome {
    let certificate = Certificate::decode(&std::fs::read(file)?)?;
    let data = cairn::connect()?.ask(&InterestBuilder::new(question.clone()), Duration::from_secs(4))?;
    certificate.verifier().verify_data(&data)?;
    println!("{}, says {}", String::from_utf8_lossy(data.content()), certificate.identity());
    Ok(())
}
