//! Own trust rules: a blog of many authors, each of whom may write under a name of their own and nowhere
//! else.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::trust::policy::Rules;
use cairn::{
    Authenticity, Client, Identity, MemoryObject, Name, Packets, Publication, PublicationConfig, Trust,
};

const RULES: &str = r#"
    [[rule]]
    packet = "data"
    name = "/lab/blog/{author}/**"       # an article …
    signer = "/lab/people/{author}"      # … is signed by the one whose name stands in it

    [[rule]]
    packet = "certificate"
    name = "/lab/people/{author}/KEY/**"
    signer = "/lab"
"#;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn publish(client: &mut Client, name: &Name, author: &Identity) -> Outcome<()> {
    let text = b"Names, not places.".to_vec();
    let mut config = PublicationConfig::new(name.clone(), 1, text.len() as u64, author.signer.clone());
    config.authenticity = Authenticity::EachPacket;
    client.serve(name, MemoryObject::new(Publication::new(config)?, text))?;
    Ok(())
}

fn main() -> Outcome<()> {
    let lab = Identity::anchor(&"/lab".parse()?)?;
    let alice = lab.certify(&"/lab/people/alice".parse()?)?;
    let (hers, his) = ("/lab/blog/alice/one".parse()?, "/lab/blog/bob/one".parse()?);

    // What one connection asks for, the forwarder does not ask the same connection for.
    let mut publisher = cairn::connect()?;
    // Certificates are Data, and served like any other.
    publisher.serve(&"/lab/people".parse()?, Packets::new([alice.certificate.data().clone()]))?;
    publish(&mut publisher, &hers, &alice)?;
    publish(&mut publisher, &his, &alice)?;
    std::thread::spawn(move || publisher.run(None));

    let mut client = cairn::connect()?;
    for name in [hers, his] {
        let trust = Trust::rules(Rules::parse(RULES)?, [lab.certificate.clone()]);
        match client.get(&name, trust).into_memory() {
            Ok((text, _)) => println!("{name}: {}", String::from_utf8_lossy(&text)),
            Err(failure) => println!("{name} is refused: {failure}"),
        }
    }
    Ok(())
}
