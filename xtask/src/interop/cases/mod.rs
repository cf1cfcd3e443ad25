//! The cases, and the forwarders they need.

mod ndnd;
mod ndnts;
mod python_ndn;
mod tshark;
mod versity;

use std::path::PathBuf;
use std::process::Command;

use super::processes::{Background, eventually, free_port, output};
use super::{Case, InteropContext};

/// All cases in the order of the page.
pub(super) const ALL: &[Case] = &[
    // ndnd's forwarder as neighbour.
    Case {
        peer: "ndnd",
        link: "udp",
        what: "its ping through both forwarders to our ping server",
        run: ndnd::its_ping_our_server,
    },
    Case {
        peer: "ndnd",
        link: "tcp",
        what: "its ping through both forwarders to our ping server",
        run: ndnd::its_ping_our_server,
    },
    Case {
        peer: "ndnd",
        link: "udp",
        what: "our ping through both forwarders to its ping server",
        run: ndnd::our_ping_its_server,
    },
    Case {
        peer: "ndnd",
        link: "tcp",
        what: "our ping through both forwarders to its ping server",
        run: ndnd::our_ping_its_server,
    },
    Case {
        peer: "ndnd",
        link: "udp",
        what: "our get of what its put publishes, through both forwarders",
        run: ndnd::our_get_its_put,
    },
    Case {
        peer: "ndnd",
        link: "tcp",
        what: "our get of what its put publishes, through both forwarders",
        run: ndnd::our_get_its_put,
    },
    Case {
        peer: "ndnd",
        link: "udp",
        what: "its cat of what our put publishes, through both forwarders",
        run: ndnd::its_cat_our_put,
    },
    Case {
        peer: "ndnd",
        link: "tcp",
        what: "its cat of what our put publishes, through both forwarders",
        run: ndnd::its_cat_our_put,
    },
    // ndnd's tools and our node, our tools and ndnd's node.
    Case {
        peer: "ndnd",
        link: "unix",
        what: "its ping and ping server through our node",
        run: ndnd::its_pings_our_node,
    },
    Case {
        peer: "ndnd",
        link: "unix",
        what: "its put and cat through our node",
        run: ndnd::its_put_and_cat_our_node,
    },
    Case {
        peer: "ndnd",
        link: "unix",
        what: "our ping and ping server through its node",
        run: ndnd::our_pings_its_node,
    },
    Case {
        peer: "ndnd",
        link: "unix",
        what: "our put and get through its node",
        run: ndnd::our_put_and_get_its_node,
    },
    Case {
        peer: "ndnd",
        link: "unix",
        what: "its management tool manages our node",
        run: ndnd::its_tool_our_node,
    },
    Case {
        peer: "ndnd",
        link: "unix",
        what: "our management commands manage its node",
        run: ndnd::our_tool_its_node,
    },
    // python-ndn.
    Case {
        peer: "python-ndn",
        link: "unix",
        what: "an application registers a prefix (commands from before v0.3) and serves",
        run: python_ndn::older_class,
    },
    Case {
        peer: "python-ndn",
        link: "tcp",
        what: "an application registers a prefix (commands from before v0.3) and serves",
        run: python_ndn::older_class,
    },
    Case {
        peer: "python-ndn",
        link: "unix",
        what: "an application registers a prefix (commands of v0.3) and serves",
        run: python_ndn::newer_class,
    },
    Case {
        peer: "python-ndn",
        link: "tcp",
        what: "an application registers a prefix (commands of v0.3) and serves",
        run: python_ndn::newer_class,
    },
    Case {
        peer: "python-ndn",
        link: "unix",
        what: "an application asks, our poke answers",
        run: python_ndn::asks,
    },
    Case {
        peer: "python-ndn",
        link: "unix",
        what: "its segment fetcher gets what our put publishes",
        run: python_ndn::fetches,
    },
    // NDNts.
    Case {
        peer: "NDNts",
        link: "unix",
        what: "an application registers a prefix and serves; another asks, and so do we",
        run: ndnts::serves,
    },
    Case {
        peer: "NDNts",
        link: "tcp",
        what: "an application registers a prefix and serves; another asks, and so do we",
        run: ndnts::serves,
    },
    Case {
        peer: "NDNts",
        link: "ws",
        what: "an application registers a prefix and serves; another asks, and so do we",
        run: ndnts::serves,
    },
    Case { peer: "NDNts", link: "udp", what: "an application asks, our poke answers", run: ndnts::asks },
    Case {
        peer: "NDNts",
        link: "unix",
        what: "an application announces its prefix instead of registering it, and serves",
        run: ndnts::announces,
    },
    Case {
        peer: "NDNts",
        link: "unix",
        what: "our get of what it publishes in segments, by its metadata and by prefix",
        run: ndnts::publishes,
    },
    Case {
        peer: "NDNts",
        link: "unix",
        what: "its fetcher gets what our put publishes, by our metadata",
        run: ndnts::fetches,
    },
    Case {
        peer: "NDNts",
        link: "ws",
        what: "its fetcher gets what our put publishes, by our metadata",
        run: ndnts::fetches,
    },
    Case {
        peer: "tshark",
        link: "file",
        what: "reads what our capture writes: every frame, with its face and its name",
        run: tshark::reads_captures,
    },
    Case {
        peer: "tshark",
        link: "file",
        what: "our dissectors: captures of ccnd, ndnld and NFD, fragments, packets sent again, broken packets",
        run: tshark::dissects,
    },
    Case {
        peer: "Versity Gateway",
        link: "http",
        what: "two repositories move volumes to its bucket, serve from there, and go on without it",
        run: versity::keeps_volumes,
    },
];

/// A node of ours.
struct CairnNode {
    process: Background,
    socket: PathBuf,
    port: u16,
    web_port: u16,
}

impl CairnNode {
    fn start(context: &InteropContext) -> Result<Self, String> {
        Self::start_with(context, "")
    }

    /// The same with `more` in its configuration.
    fn start_with(context: &InteropContext, more: &str) -> Result<Self, String> {
        let (port, web_port) = (free_port()?, free_port()?);
        let socket = context.scratch.path("cairn.sock");
        let config = format!(
            "[udp]\nlisten = [\"127.0.0.1:{port}\"]\n[tcp]\nlisten = [\"127.0.0.1:{port}\"]\n\
             [unix]\nlisten = [\"{}\"]\n[websocket]\nlisten = [\"127.0.0.1:{web_port}\"]\n{more}",
            socket.display()
        );
        let config = context.scratch.file("cairn.toml", config.as_bytes())?;
        let mut command = Command::new(&context.cairn);
        command.args(["node", "run", "--config"]).arg(config);
        let process = Background::start(&mut command, &context.scratch, None)?;
        let node = CairnNode { process, socket, port, web_port };
        eventually(|| cairn(context, &node.address(), &["status"]))
            .map_err(|error| format!("our node does not start: {error}\n{}", node.process.said()))?;
        Ok(node)
    }

    fn address(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Where applications reach it over this kind of link.
    fn address_over(&self, link: &str) -> String {
        match link {
            "unix" => self.address(),
            "ws" => format!("ws://127.0.0.1:{}", self.web_port),
            _ => format!("{link}://127.0.0.1:{}", self.port),
        }
    }
}

/// A tool of ours that runs to its end; gives what it prints.
fn cairn(context: &InteropContext, address: &str, arguments: &[&str]) -> Result<String, String> {
    let mut command = cairn_command(context, address, arguments);
    Ok(String::from_utf8_lossy(&output(&mut command, None)?).into_owned())
}

fn cairn_command(context: &InteropContext, address: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(&context.cairn);
    command.args(arguments).env("NDN_CLIENT_TRANSPORT", address).env("HOME", context.scratch.path("home"));
    command
}

/// A tool of ours that goes on.
fn cairn_server(context: &InteropContext, address: &str, arguments: &[&str]) -> Result<Background, String> {
    Background::start(&mut cairn_command(context, address, arguments), &context.scratch, None)
}

/// What a tool prints must have these words in it.
fn expect(text: &str, words: &[&str]) -> Result<(), String> {
    match words.iter().find(|word| !text.contains(**word)) {
        Some(missing) => Err(format!("`{missing}` is not in:\n{text}")),
        None => Ok(()),
    }
}

/// A file of some size that no other has.
fn sample(context: &InteropContext) -> Result<(PathBuf, Vec<u8>), String> {
    let content: Vec<u8> =
        (0u32..300_000).map(|byte| (byte.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    Ok((context.scratch.file("sample", &content)?, content))
}

fn same(found: &[u8], expected: &[u8]) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{} bytes came, not the {} that were published", found.len(), expected.len()))
}
