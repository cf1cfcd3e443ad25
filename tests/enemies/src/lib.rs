//! Attacks on a running node, and what honest traffic loses by them.
//!
//! The suite runs `cairn node run` with its default configuration in a network namespace of its own, on a
//! processor of its own. From other namespaces come an attacker with one address, an established neighbour,
//! and newcomers; on the node's own host are applications. Each attack has a fresh node and a quiet phase
//! before and after it. What the machine itself loses under the same load is measured by a control: a
//! socket that only drops, and an echo beside it.
//!
//! An attack is a file below `src/attack`. `cargo xtask enemies` builds everything and runs it, which takes
//! root.
//!
//! ```no_run
//! let words: Vec<String> = std::env::args().skip(1).collect();
//! let met = cairn_enemies::run(&words, &mut |line| println!("{line}"))?;
//! # Ok::<(), String>(())
//! ```

mod arguments;
mod attack;
mod battle;
mod cage;
mod control;
mod figures;
mod ground;
mod honest;
mod measured;
mod pace;
mod plan;
mod report;
mod stop;
mod verdict;
mod victim;
mod wire;

use std::path::{Path, PathBuf};
use std::time::Instant;

use arguments::Arguments;
use attack::Attack;
use battle::Battlefield;
use ground::Ground;
use measured::{AttackSent, Measured, Phases};
use plan::Plan;
use report::Entry;
use stop::Stop;

/// Descriptors that the suite needs beside the attacker's, the control's connections included.
const OWN_DESCRIPTORS: u64 = 3000;

/// Runs the suite as the words of a command line say; `say` is given what people are to read. Gives whether
/// every demand was met.
///
/// # Errors
/// Words that make no sense, rights that are missing, and whatever keeps the suite from running at all.
pub fn run(words: &[String], say: &mut dyn FnMut(&str)) -> Result<bool, String> {
    let all = attack::every();
    let known: Vec<&str> = all.iter().map(|attack| attack.name()).collect();
    let arguments = Arguments::read(words, &known)?;
    if arguments.list {
        all.iter().for_each(|attack| say(&format!("{:<18} {}", attack.name(), attack.about())));
        return Ok(true);
    }
    let plan = if arguments.short { Plan::short() } else { Plan::long() };
    let stop = Stop::by_signals().map_err(|error| error.to_string())?;
    let folder = Folder::make()?;
    let ground = Ground::make()?;
    ground::go_apart();
    let descriptors = victim::raise_descriptors().map_err(|error| error.to_string())?;
    let room = usize::try_from(descriptors.saturating_sub(OWN_DESCRIPTORS)).unwrap_or(usize::MAX);
    let field = Battlefield {
        ground: &ground,
        plan: &plan,
        cairn: &arguments.cairn,
        folder: &folder.0,
        seed: arguments.seed,
        stop: &stop,
        sockets: room.min(plan.sockets * if arguments.short { 1 } else { 2 }),
    };
    let wanted = |name: &str| arguments.attacks.is_empty() || arguments.attacks.iter().any(|own| own == name);
    let names: Vec<&str> = known.into_iter().filter(|name| wanted(name)).collect();
    let (entries, not_run) = fight_all(&field, &names, say)?;
    say("");
    say(&report::table(&entries));
    not_run.iter().for_each(|line| say(&format!("NOT RUN: {line}")));
    if let Some(path) = &arguments.json {
        write_json(path, &report::json(&plan, arguments.seed, &entries, &not_run))?;
    }
    Ok(entries.iter().all(Entry::is_met))
}

/// One attack after another; gives what was seen, and what could not be tried here.
fn fight_all(
    field: &Battlefield<'_>,
    names: &[&str],
    say: &mut dyn FnMut(&str),
) -> Result<(Vec<Entry>, Vec<String>), String> {
    let (mut entries, mut not_run) = (Vec::new(), Vec::new());
    let mut control: Option<Phases> = None;
    for name in names {
        let started = Instant::now();
        if *name == attack::SMALL_MEMORY
            && let Err(why) = cage::Cage::make()
        {
            not_run.push(format!("{name}: no control group can be made: {why}"));
            continue;
        }
        let measured = match try_one(field, name, &mut control) {
            Ok(measured) => measured,
            Err(error) if field.stop.is_set() => return Err(format!("{name}: {error}")),
            Err(error) => failed(by_name(name)?.as_ref(), error),
        };
        let judged = verdict::judge(&measured, &field.plan.demands);
        let entry = Entry { measured, judged };
        let verdict = if entry.is_met() { "met" } else { "MISSED" };
        say(&format!("{verdict} in {:.0} s: {}", started.elapsed().as_secs_f64(), report::details(&entry)));
        entries.push(entry);
    }
    Ok((entries, not_run))
}

/// One attack, after a control where it needs one.
fn try_one(field: &Battlefield<'_>, name: &str, control: &mut Option<Phases>) -> Result<Measured, String> {
    if control.is_none() || field.plan.control_each {
        *control = None;
        *control = Some(field.control(by_name(name)?)?);
    }
    let mut measured = field.fight(by_name(name)?)?;
    measured.pairs.control = control.clone().unwrap_or_default();
    Ok(measured)
}

/// What is to be said of an attack that could not be carried out: nothing was seen, so every demand is
/// missed.
fn failed(attack: &dyn Attack, error: String) -> Measured {
    Measured { attack: AttackSent::of(attack), trouble: vec![error], ..Measured::default() }
}

/// A new attack with this name.
fn by_name(name: &str) -> Result<Box<dyn Attack>, String> {
    attack::every()
        .into_iter()
        .find(|attack| attack.name() == name)
        .ok_or_else(|| format!("no attack {name}"))
}

fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), String> {
    let text = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

/// A folder for the node's socket, configuration and log; gone when dropped.
struct Folder(PathBuf);

/// How folders and control groups are called; the number of the process follows.
const OWN_FOLDERS: &str = "cairn-enemies-";

/// What runs that are gone have left behind in a folder because they were killed.
fn left_behind(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let of_the_dead = entries.filter(|entry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(OWN_FOLDERS).filter(|pid| pid.parse::<u32>().is_ok());
        owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists())
    });
    of_the_dead.map(|entry| entry.path()).collect()
}

impl Folder {
    fn make() -> Result<Self, String> {
        for path in left_behind(&std::env::temp_dir()) {
            let _ = std::fs::remove_dir_all(path);
        }
        let path = std::env::temp_dir().join(format!("{OWN_FOLDERS}{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn only_what_the_dead_have_left_is_left_behind() {
        let folder = TestFolder::new("enemies-left");
        let (own, dead) =
            (format!("{OWN_FOLDERS}{}", std::process::id()), format!("{OWN_FOLDERS}4294967295"));
        for name in [&own, &dead, "cairn-enemies-notes", "somebody-else"] {
            std::fs::create_dir_all(folder.join(name)).unwrap();
        }
        assert_eq!(left_behind(&folder), [folder.join(dead)]);
    }

    #[test]
    fn every_attack_is_found_by_its_name() {
        for attack in attack::every() {
            assert_eq!(by_name(attack.name()).unwrap().about(), attack.about());
        }
        assert!(by_name("nothing").is_err());
    }
}
