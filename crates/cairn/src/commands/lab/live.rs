//! Networks that stay: up, shell, change, down.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use lab::backend::BackendError;
use lab::experiment::plan::{Change, Plan};
use lab::experiment::units::{Rate, Share, Span};
use lab::experiment::{Experiment, template};
use lab::live::hold::hold;
use lab::live::{LIVE_NETWORK_FILE, LiveError, LiveNetwork, NetworkFolder, enter::enter};
use lab::order::{Event, ORDER_FILE, Order, Owner, Request, Simultaneous, Stop, read_json, write_json};

use super::Outcome;
use super::programs::programs;
use super::verdicts::Form;
use crate::tool::ToolError;
use crate::tool::interrupt::Interrupt;
use crate::tool::output::{self, printable};

/// How long a network may take to be up, for those who wait beside it.
const TIMEOUT: Duration = Duration::from_secs(120);
/// The file with what a holder in the background said.
const HOLD_LOG: &str = "hold.log";

/// Which network is built.
#[derive(Debug, clap::Args)]
pub(crate) struct UpArguments {
    /// The experiment whose nodes, links and routes are built; without it, three nodes in a row. Its
    /// workloads and events are left out.
    file: Option<PathBuf>,
    /// What the network is called, for other commands; without it, as the file.
    #[arg(long)]
    name: Option<String>,
    /// The case whose network is built, by its name; without it, the first.
    #[arg(long)]
    case: Option<String>,
    /// Return as soon as the network is up; `cairn lab down` takes it down.
    #[arg(long)]
    detach: bool,
    /// Print the network as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn up(arguments: &UpArguments) -> Outcome {
    let experiment = match &arguments.file {
        Some(path) => super::files::read(path).map_err(ToolError::other)?,
        None => {
            let text = template("Three nodes in a row");
            Experiment::parse("first", "the built-in network", &text).map_err(ToolError::other)?
        }
    };
    let plan = plan(&experiment, arguments.case.as_deref())?;
    let place =
        NetworkFolder::of(arguments.name.as_ref().unwrap_or(&experiment.name)).map_err(ToolError::other)?;
    place.clear().map_err(ToolError::other)?;
    let seed = plan.schedule.seed;
    let order = Order {
        plan,
        seed,
        owner: Owner::this_process(),
        programs: programs()?,
        stays: true,
        simultaneous: Simultaneous::default(),
        cores: std::num::NonZeroUsize::MIN,
        stop: Stop::default(),
    };
    if arguments.detach {
        let file = place.folder().join(ORDER_FILE);
        write_json(&file, &order).map_err(ToolError::file(&file))?;
        return detached(&place, Form::of(arguments.json));
    }
    held(&order, &place, Some(Form::of(arguments.json)))?;
    Ok(ExitCode::SUCCESS)
}

/// The network of a case, with nothing to do in it.
fn plan(experiment: &Experiment, case: Option<&str>) -> Result<Plan, ToolError> {
    experiment.can_run_on("netns").map_err(ToolError::other)?;
    let plans = experiment.plans("netns").map_err(|_| ToolError::other("the experiment has no cases"))?;
    let names: Vec<String> = plans.iter().map(|plan| format!("`{}`", plan.case)).collect();
    let found = plans.into_iter().find(|plan| case.is_none_or(|case| plan.case == case));
    let mut plan = found.ok_or_else(|| {
        ToolError::other(format_args!("there is no such case; there are {}", names.join(", ")))
    })?;
    plan.workloads.clear();
    plan.contents.clear();
    plan.events.clear();
    Ok(plan)
}

/// Holds a network until somebody interrupts us or takes it down.
fn held(order: &Order, place: &NetworkFolder, shown: Option<Form>) -> Result<(), ToolError> {
    let interrupt = Interrupt::catch().map_err(ToolError::file("signals"))?;
    let held = hold(order, place, &|| interrupt.came(), |event| match event {
        Event::Up => {
            // A terminal that is gone does not end the network.
            let _ = match (shown, place.network()) {
                (Some(Form::Json), Ok(network)) => output::json(&described(place, &network)),
                (Some(Form::Lines), Ok(network)) => {
                    output::line(format_args!("{}\n\nCtrl-C takes it down.", words(place, &network)))
                }
                _ => Ok(()),
            };
        }
        Event::Note { text } => tell!("{}", printable(text)),
        _ => {}
    });
    match held {
        // Ended before it was up, because somebody wanted that.
        Err(LiveError::Conduct(BackendError::Guard(_) | BackendError::GuardEnded(_))) if interrupt.came() => {
            Ok(())
        }
        other => other.map_err(ToolError::other),
    }
}

/// The part of `up --detach` that stays.
pub(super) fn hold_in_background(name: &str) -> Outcome {
    let place = NetworkFolder::of(name).map_err(ToolError::other)?;
    let file = place.folder().join(ORDER_FILE);
    let mut order: Order = read_json(&file).map_err(ToolError::file(&file))?;
    // What the run has belongs to who holds it.
    order.owner = Owner::this_process();
    held(&order, &place, None)?;
    Ok(ExitCode::SUCCESS)
}

/// Starts a holder that outlives this process, and waits until the network is up.
fn detached(place: &NetworkFolder, form: Form) -> Outcome {
    use std::os::unix::process::CommandExt;
    let log = place.folder().join(HOLD_LOG);
    let file = std::fs::File::create(&log).map_err(ToolError::file(&log))?;
    let program = programs()?.cairn;
    let mut holder = Command::new(&program);
    holder.args(["lab", "internal", "hold", place.name()]);
    holder.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).process_group(0);
    let mut child = holder.spawn().map_err(ToolError::file(&program))?;
    let deadline = Instant::now() + TIMEOUT;
    while !place.folder().join(LIVE_NETWORK_FILE).exists() {
        let ended = child.try_wait().map_err(ToolError::file(&program))?;
        if ended.is_some() || Instant::now() > deadline {
            // One that is only slow is not to go on behind our back.
            let _ = child.kill();
            let said = std::fs::read_to_string(&log).unwrap_or_default();
            return Err(ToolError::other(format_args!("the network is not up: {}", said.trim())));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let network = place.network().map_err(ToolError::other)?;
    match form {
        Form::Json => output::json(&described(place, &network))?,
        Form::Lines => {
            let words = words(place, &network);
            output::line(format_args!("{words}\n\nTake it down: cairn lab down {}", place.name()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A network, and what can be done with it.
fn words(place: &NetworkFolder, network: &LiveNetwork) -> String {
    let mut lines = vec![format!("{} is up: {}", place.name(), printable(&network.title))];
    let width = network.nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
    for node in &network.nodes {
        let addresses = node.addresses.iter().map(|(interface, address)| format!("{interface} {address}"));
        let addresses = addresses.collect::<Vec<_>>().join(", ");
        lines.push(format!("  {:<width$}  {addresses}", node.name));
    }
    let links: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    lines.push(format!("Links: {}", links.join(", ")));
    if let Some(node) = network.nodes.first() {
        lines.push(format!("Enter a node: cairn lab shell {}", node.name));
    }
    lines.join("\n")
}

/// Which network is meant.
#[derive(Debug, clap::Args)]
pub(crate) struct Which {
    /// The network, where more than one is up.
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
}

impl Which {
    fn place(&self) -> Result<NetworkFolder, ToolError> {
        NetworkFolder::find(self.network.as_deref()).map_err(ToolError::other)
    }
}

/// What is started at which node.
#[derive(Debug, clap::Args)]
pub(crate) struct ShellArguments {
    /// The node.
    node: String,
    #[command(flatten)]
    which: Which,
    /// Print as JSON why it could not be started; what it prints itself stays as it is.
    #[arg(long)]
    pub(super) json: bool,
    /// The command; without it, your shell.
    #[arg(last = true)]
    command: Vec<OsString>,
}

pub(super) fn shell(arguments: &ShellArguments) -> Outcome {
    let place = arguments.which.place()?;
    let mut child = enter(&place, &arguments.node, &arguments.command).map_err(ToolError::other)?;
    // Ctrl-C is for the command; who has ended is told by how it did.
    let _interrupt = Interrupt::catch().map_err(ToolError::file("signals"))?;
    let status = child.wait().map_err(ToolError::file("the command"))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// What becomes of a link.
#[derive(Debug, clap::Args)]
pub(crate) struct LinkArguments {
    /// The link, such as `a-b`.
    link: String,
    #[command(flatten)]
    which: Which,
    /// Take it down.
    #[arg(long, conflicts_with_all = ["up", "rate", "delay", "loss"])]
    down: bool,
    /// Bring it up again.
    #[arg(long, conflicts_with_all = ["rate", "delay", "loss"])]
    up: bool,
    /// Its new rate, such as `10 Mbit/s`.
    #[arg(long, value_parser = value::<Rate>)]
    rate: Option<Rate>,
    /// Its new delay, such as `20 ms`; needs a kernel with netem.
    #[arg(long, value_parser = value::<Span>)]
    delay: Option<Span>,
    /// Its new loss, such as `1 %`; needs a kernel with netem.
    #[arg(long, value_parser = value::<Share>)]
    loss: Option<Share>,
    /// Print what was changed as JSON.
    #[arg(long)]
    pub(super) json: bool,
}

/// A value as the experiment file has it.
fn value<T: for<'de> serde::Deserialize<'de>>(text: &str) -> Result<T, String> {
    let deserializer = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(text);
    T::deserialize(deserializer).map_err(|error| error.to_string())
}

pub(super) fn link(arguments: &LinkArguments) -> Outcome {
    let place = arguments.which.place()?;
    let network = place.network().map_err(ToolError::other)?;
    let link = network.link(&arguments.link).map_err(ToolError::other)?;
    let change = match arguments {
        LinkArguments { down: true, .. } => Change::LinkDown(link),
        LinkArguments { up: true, .. } => Change::LinkUp(link),
        LinkArguments { rate: None, delay: None, loss: None, .. } => {
            return Err(ToolError::other("say what becomes of it: --down, --up, --rate, --delay or --loss"));
        }
        LinkArguments { rate, delay, loss, .. } => Change::LinkChange {
            link,
            rate_bps: rate.map(|rate| rate.0),
            delay_ns: delay.map(|delay| delay.0),
            loss: loss.map(|loss| loss.0),
        },
    };
    let said = serde_json::json!({
        "network": place.name(),
        "link": arguments.link,
        "up": arguments.up.then_some(true).or(arguments.down.then_some(false)),
        "rate_bps": arguments.rate.map(|rate| rate.0),
        "delay_ns": arguments.delay.map(|delay| delay.0),
        "loss": arguments.loss.map(|loss| loss.0),
    });
    ask(&place, &Request::Change(change), arguments.json.then_some(said))
}

pub(super) fn restart(name: &str, which: &Which, json: bool) -> Outcome {
    let place = which.place()?;
    let network = place.network().map_err(ToolError::other)?;
    let node = network.node(name).map_err(ToolError::other)?.index;
    let said = serde_json::json!({ "network": place.name(), "node": name });
    ask(&place, &Request::Change(Change::Restart(node)), json.then_some(said))
}

pub(super) fn down(name: Option<&str>, all: bool, form: Form) -> Outcome {
    let places = if all {
        NetworkFolder::all_up()
    } else {
        vec![NetworkFolder::find(name).map_err(ToolError::other)?]
    };
    let mut list = Vec::new();
    for place in places {
        ask(&place, &Request::Down, None)?;
        let folder = place.folder();
        if form == Form::Json {
            list.push(serde_json::json!({ "name": place.name(), "folder": folder }));
        } else {
            output::line(format_args!("{} is down; its logs are in {}", place.name(), folder.display()))?;
        }
    }
    if form == Form::Json {
        output::json(&serde_json::Value::from(list))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks for a change, and says as JSON that it was made, if anybody wants that.
fn ask(place: &NetworkFolder, request: &Request, said: Option<serde_json::Value>) -> Outcome {
    place.ask(request).map_err(ToolError::other)?;
    if let Some(said) = said {
        output::json(&said)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Every network that is up.
pub(super) fn networks(json: bool) -> Outcome {
    let up: Vec<(NetworkFolder, LiveNetwork)> = NetworkFolder::all_up()
        .into_iter()
        .filter_map(|place| Some((place.clone(), place.network().ok()?)))
        .collect();
    if json {
        let list: Vec<_> = up.iter().map(|(place, network)| described(place, network)).collect();
        output::json(&serde_json::Value::from(list))?;
    } else if up.is_empty() {
        output::line("No network is up; start one with: cairn lab up")?;
    } else {
        let texts: Vec<String> = up.iter().map(|(place, network)| words(place, network)).collect();
        output::line(texts.join("\n\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn described(place: &NetworkFolder, network: &LiveNetwork) -> serde_json::Value {
    let folder: &Path = place.folder();
    serde_json::json!({ "name": place.name(), "folder": folder, "network": network })
}
