//! Many tasks over one connection, with tokio: one serves what it was told, the others ask or fetch, all at
//! once. Needs the feature `async`.
#![allow(clippy::print_stdout, reason = "it is what the program is for")]

use cairn::{
    AsyncClient, Duration, InterestBuilder, MemoryObject, Name, Publication, PublicationConfig, Remote,
    Signer, Trust,
};
use tokio::task::JoinSet;

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn publish(client: &AsyncClient, name: &Name, bytes: Vec<u8>) -> Result<(), Failure> {
    let config = PublicationConfig::new(name.clone(), 1, bytes.len() as u64, Signer::digest());
    client.serve(name, MemoryObject::new(Publication::new(config)?, bytes)).await?;
    Ok(())
}

async fn run(prefix: Name) -> Result<(), Failure> {
    let remote = Remote::default_forwarder()?;
    // What one connection asks for, a forwarder does not ask the same connection for.
    let (here, there) = (AsyncClient::connect(&remote).await?, AsyncClient::connect(&remote).await?);
    let mut tasks: JoinSet<Result<u64, Failure>> = JoinSet::new();
    for number in 0..10u8 {
        let name: Name = format!("{prefix}/{number}").parse()?;
        publish(&there, &name, vec![number; 100_000]).await?;
        let here = here.clone();
        tasks.spawn(async move {
            let first = InterestBuilder::new(name.clone()).can_be_prefix(true);
            let data = here.ask(&first, Duration::from_secs(4)).await?;
            let (bytes, _) = here.get(&name, Trust::anybody()).into_memory().await?;
            Ok((data.content().len() + bytes.len()) as u64)
        });
    }
    let mut bytes = 0;
    while let Some(done) = tasks.join_next().await {
        bytes += done??;
    }
    println!("{bytes} bytes in ten tasks");
    Ok(())
}

fn main() -> Result<(), Failure> {
    let prefix = std::env::args().nth(1).ok_or("usage: tasks PREFIX")?.parse()?;
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(run(prefix))
}
