//! Servers and their clients, with names looked up: who can serve what, and who is asked by whom.

use crate::experiment::model;
use crate::experiment::plan::{
    Activity, FetchClient, FetchPlan, NodeIndex, Plan, ProgramPlan, ServerPlan, ServerSoftware, Software,
    Turn,
};
use crate::experiment::problem::suggest;
use crate::experiment::read::findings::Findings;

/// A node's server.
pub(super) fn server(
    node: &str,
    given: &model::Server,
    names: &[&str],
    f: &mut Findings,
) -> Option<ServerPlan> {
    let key = format!("node.{node}.server");
    let software = f.word(&format!("{key}.software"), &given.software, ServerSoftware::WORDS);
    let settings = [("stock", false), ("tuned", true)];
    let setting = given.setting.as_deref().unwrap_or("stock");
    let tuned = f.word(&format!("{key}.setting"), setting, &settings);
    let upstream = match &given.upstream {
        Some(upstream) => Some(f.node(&format!("{key}.upstream"), upstream, names)?),
        None => None,
    };
    let (software, tuned) = (software?, tuned?);
    if upstream.is_none() && !software.serves_files() {
        let hint = Some("write for example `upstream = \"server\"`".to_owned());
        f.add(&key, format!("`{}` serves no files of its own", given.software), hint);
    }
    if upstream.is_some() && !software.is_proxy() {
        let message = format!("`{}` is no proxy here", given.software);
        f.add(format!("{key}.upstream"), message, Some("take it away, or use another software".to_owned()));
    }
    Some(ServerPlan { software, tuned, upstream })
}

/// The files that a client fetches: of which content, by its place in the plan, how many, and which of them
/// are its own.
pub(super) struct WantedFiles {
    pub(super) content: usize,
    pub(super) count: u32,
    pub(super) turn: Turn,
}

/// What a client that is a program of its own does; nothing where the lab's own is meant.
pub(super) fn program(
    key: &str,
    given: &model::Download,
    wanted: &WantedFiles,
    names: &[&str],
    f: &mut Findings,
) -> Option<ProgramPlan> {
    let client = f.word(&format!("{key}.client"), given.client.as_deref()?, FetchClient::WORDS)?;
    let from: Vec<NodeIndex> =
        given.from.iter().filter_map(|name| f.node(&format!("{key}.from"), name, names)).collect();
    if client == FetchClient::Cairn && !from.is_empty() {
        f.add(format!("{key}.from"), "named data is asked of the network, and not of a node", None);
    }
    if client != FetchClient::Cairn && given.from.is_empty() {
        let hint = Some("write for example `from = [\"proxy\"]`".to_owned());
        f.add(key, "it must be said which node's server is asked", hint);
    }
    let of_agents = [
        ("rate", given.rate.is_some()),
        ("workload", given.workload.is_some()),
        ("trace", given.trace.is_some()),
        ("at_once", given.at_once.is_some()),
        ("controller", given.controller.is_some()),
        ("window", given.window.is_some()),
        ("lifetime", given.lifetime.is_some()),
    ];
    for (word, _) in of_agents.iter().filter(|(_, is_given)| *is_given) {
        f.add(format!("{key}.{word}"), format!("`{}` does this as it likes", client.word()), None);
    }
    let from = from.get(wanted.turn.number.checked_rem(from.len()).unwrap_or(0)).copied();
    Some(ProgramPlan {
        command: vec![client.word().to_owned()],
        environment: std::collections::BTreeMap::new(),
        serves: false,
        count: wanted.count,
        exit: 0,
        output: None,
        fetch: Some(FetchPlan { client, content: wanted.content, from }),
    })
}

/// What must hold between servers, and of those who ask them.
pub(super) fn whole(plan: &Plan, file: &model::File, f: &mut Findings) {
    let name = |node: NodeIndex| plan.node_name(node);
    let is_named = |software| matches!(software, ServerSoftware::Cairn | ServerSoftware::Gateway);
    let lacks_forwarder = plan.software == Software::None;
    for (index, node) in plan.nodes.indexed() {
        let Some(server) = node.server else { continue };
        let key = format!("node.{}.server", node.name);
        if lacks_forwarder && is_named(server.software) {
            let hint = Some("write software = \"cairn\" at the top of the file".to_owned());
            f.add(&key, "named data needs forwarders", hint);
        }
        if node.switch {
            f.add(&key, "a switch serves nothing", None);
        }
        let (mut at, mut seen) = (index, Vec::new());
        while let Some(next) =
            plan.nodes.get(at).and_then(|node| node.server).and_then(|server| server.upstream)
        {
            if seen.contains(&next) {
                f.add(format!("{key}.upstream"), "the proxies ask each other in a circle", None);
                break;
            }
            seen.push(next);
            at = next;
        }
        let last = plan.nodes.get(at).and_then(|node| node.server);
        if seen.last().is_some() && last.is_none_or(|server| server.software == ServerSoftware::Cairn) {
            let hint = Some(format!("give `{}` a server, such as lighttpd", name(at)));
            f.add(format!("{key}.upstream"), format!("no HTTP server is at `{}`", name(at)), hint);
        }
    }
    for given in file.download.iter().filter(|(_, given)| given.client.is_none() && lacks_forwarder) {
        let hint = Some("write for example `client = \"wget\"`".to_owned());
        f.add(format!("download.{}", given.0), "the lab's own client needs forwarders", hint);
    }
    for workload in plan.measured() {
        let Activity::Program(ProgramPlan { fetch: Some(fetch), .. }) = &workload.does else { continue };
        let Some(content) = plan.contents.get(fetch.content) else { continue };
        if !plan.is_served_by_a_program(content.at) {
            let at = name(content.at);
            let hint = Some(format!("write for example node.{at}.server.software = \"cairn\""));
            let key = format!("download.{}.content", workload.measured_as());
            f.add(key, format!("no server at `{at}` serves `{}`", content.name), hint);
        }
    }
    let servers: Vec<&str> =
        plan.nodes.iter().filter(|node| node.server.is_some()).map(|node| node.name.as_str()).collect();
    for (download, given) in &file.download {
        for from in given.from.iter().filter(|from| !servers.contains(&from.as_str())) {
            let message = format!("`{from}` has no server");
            f.add(format!("download.{download}.from"), message, Some(suggest(from, &servers)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;
    use crate::experiment::plan::{Activity, NodeIndex};

    const GOOD: &str = r#"
title = "t"
duration = "9 s"
software = "none"
[node]
c1 = {}
c2 = {}
c3 = {}
sw = { switch = true }
top = { server = { software = "squid", upstream = "web", setting = "tuned" } }
mid = { server = { software = "nginx", upstream = "top" } }
web = { server = { software = "lighttpd" } }
[link]
sw-c1 = {}
sw-c2 = {}
sw-c3 = {}
sw-top = {}
sw-mid = {}
sw-web = {}
[content.files]
prefix = "/lab"
at = "web"
size = "1 MB"
[download.files]
at = ["c1", "c2", "c3"]
client = "wget"
from = ["top", "mid"]
content = "files"
"#;

    fn problems(text: &str) -> String {
        Experiment::parse("x", "x.toml", text).unwrap_err().to_string()
    }

    #[test]
    fn several_nodes_ask_several_servers_in_turn_and_are_measured_together() {
        let experiment = Experiment::parse("x", "x.toml", GOOD).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("netns").unwrap().remove(0);
        let from: Vec<(&str, &str, Option<NodeIndex>)> = plan
            .workloads
            .iter()
            .filter_map(|workload| match &workload.does {
                Activity::Program(program) => Some((
                    workload.name.as_str(),
                    workload.measured_as(),
                    program.fetch.and_then(|fetch| fetch.from),
                )),
                _ => None,
            })
            .collect();
        let (top, mid) = (plan.node("top"), plan.node("mid"));
        let expected = [("files-c1", "files", top), ("files-c2", "files", mid), ("files-c3", "files", top)];
        assert_eq!(from, expected);
        let fewer = Experiment::parse("x", "x.toml", &(GOOD.to_owned() + "first = 2\n")).unwrap();
        assert_eq!(fewer.plans("netns").unwrap()[0].workloads.len(), 2);
        assert!(experiment.can_run_on("netns").is_ok());
        let lacking = experiment.can_run_on("sim").unwrap_err().to_string();
        for key in ["node.web.server", "node.sw.switch", "download.files.client"] {
            assert!(lacking.contains(key), "{key}: {lacking}");
        }
    }

    #[test]
    fn what_no_server_can_do_is_refused_with_a_way_out() {
        let shown = problems(&GOOD.replace("upstream = \"web\", ", ""));
        assert!(shown.contains("`squid` serves no files of its own"), "{shown}");
        let shown =
            problems(&GOOD.replace("software = \"lighttpd\"", "software = \"lighttpd\", upstream = \"top\""));
        assert!(shown.contains("`lighttpd` is no proxy here"), "{shown}");
        let shown =
            problems(&GOOD.replace(
                "software = \"squid\", upstream = \"web\"",
                "software = \"squid\", upstream = \"mid\"",
            ));
        assert!(shown.contains("in a circle"), "{shown}");
        let shown = problems(&GOOD.replace("web = { server = { software = \"lighttpd\" } }", "web = {}"));
        assert!(shown.contains("no HTTP server is at `web`"), "{shown}");
        let shown = problems(&GOOD.replace("from = [\"top\", \"mid\"]", "from = [\"c1\"]"));
        assert!(shown.contains("`c1` has no server"), "{shown}");
        let shown = problems(&GOOD.replace("client = \"wget\"\nfrom = [\"top\", \"mid\"]\n", ""));
        assert!(shown.contains("the lab's own client needs forwarders"), "{shown}");
        let shown = problems(&(GOOD.to_owned() + "window = 4\n"));
        assert!(shown.contains("`wget` does this as it likes"), "{shown}");
    }
}
