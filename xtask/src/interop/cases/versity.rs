//! The Versity Gateway: a server of S3 with a folder behind it, as the cold tier of repositories.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{CairnNode, cairn, cairn_server, expect, same};
use crate::interop::InteropContext;
use crate::interop::processes::{Background, eventually, free_port};

const BUCKET: &str = "cairn";
const KEY: &str = "interop";
const SECRET: &str = "a secret of these cases";
/// More than a volume of such a small repository holds.
const FILM_BYTES: u32 = 20_000_000;

struct Gateway {
    process: Background,
    port: u16,
    folder: PathBuf,
}

impl Gateway {
    fn start(context: &InteropContext) -> Result<Self, String> {
        let (port, folder) = (free_port()?, context.scratch.path("s3"));
        std::fs::create_dir_all(folder.join(BUCKET)).map_err(|error| error.to_string())?;
        let mut command = Command::new(&context.peers.versity);
        command.args(["--access", KEY, "--secret", SECRET, "--port", &format!("127.0.0.1:{port}"), "posix"]);
        let process = Background::start(command.arg(&folder), &context.scratch, None)?;
        let gateway = Gateway { process, port, folder };
        eventually(|| std::net::TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string()))
            .map_err(|error| format!("the gateway does not start: {error}\n{}", gateway.process.said()))?;
        Ok(gateway)
    }

    /// Objects in the bucket, and bytes of them.
    fn holds(&self) -> (usize, u64) {
        let folder = std::fs::read_dir(self.folder.join(BUCKET)).into_iter().flatten().flatten();
        let files = folder.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file);
        files.fold((0, 0), |(count, bytes), file| (count + 1, bytes + file.len()))
    }
}

/// A node whose repository has a film in a volume that goes to the bucket, and a song in one that stays.
struct Stored {
    config: String,
    folder: PathBuf,
}

impl Stored {
    fn make(context: &InteropContext, gateway: &Gateway, film: &Path, song: &Path) -> Result<Self, String> {
        let folder = context.scratch.path("store");
        let credentials = format!("aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n");
        let credentials = context.scratch.file("credentials", credentials.as_bytes())?;
        let config = format!(
            "[[repository]]\npath = '{}'\nmax_bytes = 100000000\ntimeout_millis = 3000\n\
             [repository.cold]\nhot_bytes = 1\nendpoint = 'http://127.0.0.1:{}'\nbucket = '{BUCKET}'\n\
             credentials = '{}'\n",
            folder.display(),
            gateway.port,
            credentials.display()
        );
        let (at, film, song) = (folder.to_string_lossy(), film.to_string_lossy(), song.to_string_lossy());
        cairn(context, "", &["repo", "put", &at, "/lab/film", "-f", &film])?;
        let mut node = CairnNode::start_with(context, &config)?;
        let mut producer = cairn_server(context, &node.address(), &["put", "/lab/song", "-f", &song])?;
        producer.wait_for("published")?;
        get(context, &node, "/lab/song")?;
        // What it has kept is in the index when it has ended.
        node.process.interrupt()?;
        Ok(Stored { config, folder })
    }

    /// Starts the node again, and waits until its volume has left.
    fn start(&self, context: &InteropContext) -> Result<CairnNode, String> {
        let node = CairnNode::start_with(context, &self.config)?;
        let first = self.folder.join("00000001.volume");
        eventually(|| match first.exists() {
            true => Err(format!("the volume is still here:\n{}", node.process.said())),
            false => Ok(()),
        })?;
        // It says so a second later.
        let status = || cairn(context, &node.address(), &["status", "--json"]);
        eventually(|| expect(&status()?, &["\"cold_volumes\": 1"]))?;
        Ok(node)
    }
}

fn get(context: &InteropContext, node: &CairnNode, name: &str) -> Result<Vec<u8>, String> {
    let path = context.scratch.path("got");
    cairn(context, &node.address(), &["get", name, "-D", "prefix", "-q", "-o", &path.to_string_lossy()])?;
    std::fs::read(&path).map_err(|error| error.to_string())
}

/// Two nodes move volumes to one bucket and serve from it; without it they serve what they have themselves.
pub(super) fn keeps_volumes(context: &InteropContext, _: &'static str) -> Result<(), String> {
    let content = |seed: u32, len: u32| -> Vec<u8> {
        (0..len).map(|byte| ((byte ^ seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
    };
    let gateway = Gateway::start(context)?;
    let song = content(7, 300_000);
    let song_file = context.scratch.file("song", &song)?;
    let mut nodes = Vec::new();
    for seed in [1, 2] {
        let film = content(seed, FILM_BYTES);
        let film_file = context.scratch.file("film", &film)?;
        let stored = Stored::make(context, &gateway, &film_file, &song_file)?;
        nodes.push((stored.start(context)?, film));
    }
    for (node, film) in &nodes {
        same(&get(context, node, "/lab/film")?, film)?;
    }
    match gateway.holds() {
        (2, bytes) if bytes > 2 * u64::from(FILM_BYTES) => {}
        (count, bytes) => return Err(format!("the bucket holds {count} objects, {bytes} bytes")),
    }
    drop(gateway);
    for (node, _) in &nodes {
        // The content store has what was asked for last.
        cairn(context, &node.address(), &["cs", "erase", "/"])?;
        same(&get(context, node, "/lab/song")?, &song)?;
        if get(context, node, "/lab/film").is_ok() {
            return Err("the film came from a bucket that is not there".to_owned());
        }
    }
    Ok(())
}
