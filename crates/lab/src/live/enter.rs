//! Entering a node: a command of one's own, in the namespaces of a network that is up.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command};

use nix::sched::{CloneFlags, setns};
use packet::Dialect;

use super::{LiveError, NetworkFolder};
use crate::backend::machine::cgroup::{Controllers, Group};
use crate::backend::netns::guard::WORLD_FILE;
use crate::experiment::plan::application_socket;
use crate::order::{ORDER_FILE, Order, read_json};

/// Starts a command at a node, with the terminal and the environment of the caller, and
/// `NDN_CLIENT_TRANSPORT` pointing to the node's forwarder. The calling process itself enters the node's
/// namespaces, so that this can be done once, and only before it has any other thread.
///
/// # Errors
///
/// There is no such node, the kernel does not let us in, or the command cannot be started.
pub fn enter(place: &NetworkFolder, node: &str, command: &[OsString]) -> Result<Child, LiveError> {
    let network = place.network()?;
    let found = network.node(node)?;
    let failed = |what| {
        let node = node.to_owned();
        move |source: io::Error| LiveError::Enter { node, what, source }
    };
    let order: Order = read_json(&place.folder().join(ORDER_FILE)).map_err(failed("reading its order"))?;
    // Control groups are looked for where they are seen from outside.
    let group: Option<Group> = Controllers::find().group(order.owner, node).ok();
    let world = fs::read_to_string(place.folder().join(WORLD_FILE)).map_err(failed("reading its process"))?;
    let world = Path::new("/proc").join(world.trim()).join("ns");
    let here = std::env::current_dir().ok();
    join_world(&world).map_err(failed("joining its world"))?;
    // /proc is the world's from here on.
    let own = File::open(format!("/proc/{}/ns/net", found.process)).map_err(failed("its network"))?;
    setns(own.as_fd(), CloneFlags::CLONE_NEWNET).map_err(|errno| failed("its network")(errno.into()))?;
    let (program, arguments) = match command.split_first() {
        Some((program, arguments)) => (program.clone(), arguments),
        None => (std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into()), &[][..]),
    };
    let ccnd = application_socket(Dialect::Ccnx, &found.socket);
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("NDN_CLIENT_TRANSPORT", format!("unix:///proc/1/cwd/{}", found.socket.display()))
        .env("CCN_LOCAL_TRANSPORT", format!("unix:/proc/1/cwd/{}", ccnd.display()))
        .env("CAIRN", &order.programs.cairn)
        .env("CAIRN_NODE", node);
    // The working folder is there in the world's view of the file system, too, unless it is mounted since.
    if let Some(here) = here.filter(|here| here.is_dir()) {
        command.current_dir(here);
    }
    let child = command.spawn().map_err(|source| LiveError::Command {
        command: command.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    if let Some(group) = group {
        // Without a control group it shares the processor with all others, as the caller does.
        let _ = group.add(child.id());
    }
    Ok(child)
}

/// Joins the namespaces that all of a world has in common.
fn join_world(namespaces: &Path) -> io::Result<()> {
    let kinds = [
        ("user", CloneFlags::CLONE_NEWUSER),
        ("pid", CloneFlags::CLONE_NEWPID),
        ("mnt", CloneFlags::CLONE_NEWNS),
    ];
    let mut list = Vec::new();
    for (name, kind) in kinds {
        let file = File::open(namespaces.join(name))?;
        let own = fs::metadata(format!("/proc/self/ns/{name}"))?;
        // A world of root has root's user namespace, which nobody can join again.
        if file.metadata()?.ino() != own.ino() {
            list.push((file, kind));
        }
    }
    list.iter().try_for_each(|(file, kind)| setns(file.as_fd(), *kind)).map_err(io::Error::from)
}
