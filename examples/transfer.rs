//! Publishes a file, or fetches one: `transfer put /lab/file FILE`, `transfer get /lab/file FILE`.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use std::fs::File;

use cairn::{FileObject, Name, Publication, PublicationConfig, Signer, Trust};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["put", name, path] => put(&name.parse()?, path),
        ["get", name, path] => get(&name.parse()?, path),
        _ => Err("transfer put|get NAME FILE".into()),
    }
}

fn put(name: &Name, path: &str) -> Outcome {
    let mut client = cairn::connect()?;
    let file = File::open(path)?;
    let version = client.connection().clock().unix().as_millis();
    let config = PublicationConfig::new(name.clone(), version, file.metadata()?.len(), Signer::digest());
    // Segments are read and signed when they are asked for.
    client.serve(name, FileObject::new(Publication::new(config)?, file, false))?;
    println!("{name} is published");
    Ok(client.run(None)?)
}

fn get(name: &Name, path: &str) -> Outcome {
    let mut client = cairn::connect()?;
    let mut tenths = 0;
    let fetched = client
        .get(name, Trust::anybody())
        .progress(|progress| {
            let now = progress.total_bytes.map_or(0, |all| progress.content_bytes * 10 / all.max(1));
            if now > tenths {
                tenths = now;
                eprintln!("{} %", tenths * 10);
            }
            true
        })
        .into_file(path)?;
    println!("{} bytes of {}: {}", fetched.bytes, fetched.name, fetched.summary.text);
    Ok(())
}
