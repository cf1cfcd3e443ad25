//! A run's folder tells what is wrong with it, and what it advises works.
#![allow(clippy::unwrap_used, reason = "a test stops where something is not as it must be")]

mod common;

use std::fs;

use cairn_lab::experiment::Experiment;
use cairn_lab::report::{
    Comparison, Conclusion, Outcome, RunData, conclusion, result_rows, results_markdown, verdicts,
    write_report,
};
use cairn_lab::run::progress::Progress;
use cairn_lab::run::{Build, Options, RunFolder, derive_anew, execute, resume};
use testkit::experiment::ROW;
use testkit::folder::TestFolder;

use common::{options, run_in_virtual_time};

/// Three repeats of the row, of which something is expected.
struct Row {
    above: TestFolder,
    folder: RunFolder,
}

impl Row {
    fn new(name: &str) -> Self {
        let above = TestFolder::new(name);
        let text = format!(
            "title = 'Row'\nuntil_done = true\nduration = '60 s'\nrepeats = 3\n[defaults.link]\nrate = '5 Mbit/s'\n\
             {ROW}\n[[expect]]\nsay = 'S'\nvalue = 'files.duration'\nat_most = 50\n"
        );
        let folder = run_in_virtual_time("row", &text, &above);
        Row { above, folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn read(&self) -> RunData {
        RunData::read(&self.folder).unwrap()
    }

    /// What is wrong, and the way out; nothing is testable and the run is not whole.
    fn damage(&self, outcome: Outcome) -> (String, String) {
        let run = self.read();
        let list = verdicts(&run);
        assert_eq!(list[0].outcome, outcome);
        assert_eq!(conclusion(&run, &list), Conclusion::Incomplete);
        let [fault] = run.faults.as_slice() else { panic!("one fault: {:?}", run.faults) };
        let [way_out] = run.ways_out.as_slice() else { panic!("one way out: {:?}", run.ways_out) };
        (fault.clone(), way_out.clone())
    }

    fn is_whole(&self) {
        let run = self.read();
        assert_eq!((run.faults.as_slice(), run.is_damaged), ([].as_slice(), false));
        assert_eq!(verdicts(&run)[0].outcome, Outcome::Confirmed);
    }

    fn resume(&self) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        let observe = |progress: &Progress| {
            if let Progress::Note(text) = progress {
                notes.push(text.clone());
            }
        };
        let programs = options(&self.above).programs;
        resume(self.folder.path(), &programs, Build::default(), observe)
            .map_err(|error| error.to_string())?;
        Ok(notes)
    }
}

#[test]
fn numbers_that_cannot_be_read_are_named_and_the_repeat_is_measured_again() {
    let row = Row::new("cut");
    let path = row.path("case-01/repeat-02/result.json");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let (fault, way_out) = row.damage(Outcome::NotTestable);
    assert!(fault.starts_with("repeat 2 of 3 cannot be read (case-01/repeat-02/result.json: EOF"), "{fault}");
    assert_eq!(way_out, format!("measure it again with: cairn lab resume {}", row.folder.path().display()));
    let refused = derive_anew(&row.folder).unwrap_err().to_string();
    assert!(refused.contains("result.json: EOF") && refused.contains("cairn lab resume"), "{refused}");
    let notes = row.resume().unwrap();
    assert!(notes.len() == 1 && notes[0].contains("repeat-02-unreadable-1"), "{notes:?}");
    row.is_whole();
    assert_eq!(fs::read_to_string(&path).unwrap(), whole, "the same seed brings the same numbers");
    let aside = row.path("case-01/repeat-02-unreadable-1");
    assert!(aside.join("raw").is_dir() && aside.join("UNREADABLE.txt").is_file(), "the old one is kept");
    // Where no other is left the way out is the same.
    for repeat in 1..=3 {
        fs::write(row.path(&format!("case-01/repeat-0{repeat}/result.json")), "").unwrap();
    }
    let error = RunData::read(&row.folder).unwrap_err().to_string();
    assert!(error.contains("repeat-03/result.json") && error.contains("cairn lab resume"), "{error}");
    row.resume().unwrap();
    row.is_whole();
}

#[test]
fn a_run_that_does_not_say_what_it_was_is_run_again_as_it_advises() {
    let row = Row::new("record");
    let whole = fs::read_to_string(row.path("run.json")).unwrap();
    for text in ["", &whole[..whole.len() / 2]] {
        fs::write(row.path("run.json"), text).unwrap();
        let again =
            format!("start it anew with: cairn lab run {} --on sim", row.folder.experiment().display());
        for error in [RunData::read(&row.folder).unwrap_err().to_string(), row.resume().unwrap_err()] {
            assert!(error.contains("its run.json cannot be read (") && error.ends_with(&again), "{error}");
        }
    }
    let experiment = Experiment::read(&row.folder.experiment()).unwrap();
    let folder = execute(&experiment, &options(&row.above), |_| {}).unwrap();
    assert!(RunData::read(&folder).unwrap().faults.is_empty());
    // One that was changed is told, and nobody seals it anew.
    let changed = whole.replace("\"version\": \"", "\"version\": \"9");
    assert_ne!(changed, whole);
    fs::write(row.path("run.json"), &changed).unwrap();
    let (fault, way_out) = row.damage(Outcome::Confirmed);
    assert_eq!(fault, "run.json was changed after it was written");
    assert!(way_out.ends_with("experiment.toml --on sim"), "{way_out}");
    let refused = row.resume().unwrap_err();
    assert!(
        refused.contains("run.json was changed") && refused.contains("put it back, or start"),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(row.path("run.json")).unwrap(), changed);
    // Without its seal it is none of an earlier version, whose repeats have no hashes of what was derived.
    let seal = changed.rfind(",\n  \"sha256\"").unwrap();
    fs::write(row.path("run.json"), format!("{}\n}}", &changed[..seal])).unwrap();
    assert_eq!(row.damage(Outcome::Confirmed).0, fault);
    fs::write(row.path("run.json"), &whole).unwrap();
    row.is_whole();
}

#[test]
fn a_record_that_names_more_repeats_than_a_run_has_makes_nobody_look_for_them() {
    let row = Row::new("many");
    let whole = fs::read_to_string(row.path("run.json")).unwrap();
    for repeats in ["4000000000", "40000000"] {
        let changed = whole.replace("\"repeats\": 3", &format!("\"repeats\": {repeats}"));
        assert_ne!(changed, whole);
        fs::write(row.path("run.json"), &changed).unwrap();
        let refused = [RunData::read(&row.folder).unwrap_err().to_string(), row.resume().unwrap_err()];
        for error in refused {
            assert!(error.contains(&format!("1 cases of {repeats} repeats each are more than")), "{error}");
            assert!(error.contains("start it anew with: cairn lab run"), "{error}");
        }
        assert!(derive_anew(&row.folder).is_err());
    }
    // Of what a run could have it is said that it is not there, in a sentence that can be read.
    fs::write(row.path("run.json"), whole.replace("\"repeats\": 3", "\"repeats\": 5000")).unwrap();
    let faults = row.read().faults;
    assert!(faults[0].contains("23, and 4977 more of 5000 are missing"), "{faults:?}");
    assert!(faults.iter().all(|fault| fault.len() < 300), "{faults:?}");
    let experiment = Experiment::read(&row.folder.experiment()).unwrap();
    let many = Options { repeats: Some(2_000_000), ..options(&row.above) };
    let refused = execute(&experiment, &many, |_| {}).unwrap_err().to_string();
    assert!(refused.starts_with("1 cases of 2000000 repeats each are too many"), "{refused}");
}

#[test]
fn a_repeat_of_another_seed_or_experiment_is_named_and_judges_nothing() {
    let row = Row::new("foreign");
    let text = fs::read_to_string(row.folder.experiment()).unwrap();
    let other = |text: &str, seed| {
        let experiment = Experiment::parse("row", "row.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        execute(&experiment, &Options { seed, ..options(&row.above) }, |_| {}).unwrap()
    };
    let aside = row.path("aside");
    let seeded = other(&text, Some(500));
    let faster = other(&text.replace("'5 Mbit/s'", "'6 Mbit/s'"), None);
    let reworded = other(&text.replace("at_most = 50", "at_most = 40"), None);
    for (from, is_foreign) in [(&seeded, true), (&faster, true), (&reworded, false)] {
        let place = row.path("case-01/repeat-03");
        fs::rename(&place, &aside).unwrap();
        copy(&from.path().join("case-01/repeat-03"), &place);
        if is_foreign {
            let (fault, way_out) = row.damage(Outcome::NotTestable);
            let told = "repeat 3 of 3 is one of another experiment or of another seed, and nothing";
            assert!(fault.starts_with(told), "{fault}");
            let taken = format!("take {} away and measure it again", place.display());
            assert!(way_out.starts_with(&taken), "{way_out}");
            let refused = derive_anew(&row.folder).unwrap_err().to_string();
            assert!(refused.contains("repeat-03/result.json: it is a repeat of another"), "{refused}");
            row.resume().unwrap();
            row.damage(Outcome::NotTestable);
        } else {
            row.is_whole();
        }
        fs::remove_dir_all(&place).unwrap();
        fs::rename(&aside, &place).unwrap();
        row.is_whole();
    }
    derive_anew(&row.folder).unwrap();
    row.is_whole();
}

#[test]
fn of_repeats_that_do_not_say_of_which_run_they_are_that_is_said_and_they_are_used() {
    let row = Row::new("no-origin");
    for repeat in 1..=3 {
        let path = row.path(&format!("case-01/repeat-0{repeat}/result.json"));
        let mut value: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        ["origin", "sha256"].iter().for_each(|field| drop(value.as_object_mut().unwrap().remove(*field)));
        let body = serde_json::to_string(&value).unwrap();
        let body = body.strip_suffix('}').unwrap();
        let seal = trust::sha256(body.as_bytes());
        let seal: String = seal.iter().map(|byte| format!("{byte:02x}")).collect();
        fs::write(&path, format!("{body},\"sha256\": \"{seal}\"}}")).unwrap();
    }
    row.is_whole();
    let told = row.read().unhashed.unwrap();
    assert!(
        told.starts_with("plan and seed not noted with each repeat (run by an earlier version)"),
        "{told}"
    );
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

#[test]
fn an_experiment_that_was_emptied_or_taken_away_is_named_with_the_command_that_the_run_was_begun_with() {
    let row = Row::new("emptied");
    let whole = fs::read_to_string(row.folder.experiment()).unwrap();
    let again = "put it back, or start anew, where it was begun, with: cairn lab run row.toml --on sim";
    let damages: [(&str, Option<&str>); 4] = [
        ("its experiment.toml is empty, and", Some("")),
        ("its experiment.toml is empty, and", Some("\n")),
        ("its experiment.toml cannot be read any more (", Some("title = 'Row")),
        ("its experiment.toml is missing, and", None),
    ];
    for (what, damage) in damages {
        match damage {
            Some(text) => fs::write(row.folder.experiment(), text).unwrap(),
            None => fs::remove_file(row.folder.experiment()).unwrap(),
        }
        let read = RunData::read(&row.folder).unwrap_err().to_string();
        let derived = derive_anew(&row.folder).unwrap_err().to_string();
        for error in [read, derived, row.resume().unwrap_err()] {
            assert!(error.contains(what) && error.ends_with(again), "{error}");
        }
    }
    fs::write(row.folder.experiment(), whole).unwrap();
    row.is_whole();
}

#[test]
fn what_is_advised_runs_the_experiment_as_often_and_where_it_ran() {
    let above = TestFolder::new("said with it");
    let text = format!(
        "title = 'Row'\nuntil_done = true\nduration = '60 s'\n[defaults.link]\nrate = '5 Mbit/s'\n{ROW}\n\
         [[case]]\nname = 'one'\n[[case]]\nname = \"it's two\"\nset = {{ 'download.files.window' = 2 }}\n"
    );
    let experiment = Experiment::parse("row", "my row.toml", &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let only = Some("it's".to_owned());
    let options = Options { repeats: Some(2), seed: Some(9), only, controls: false, ..options(&above) };
    let folder = execute(&experiment, &options, |_| {}).unwrap();
    let said = "--on sim --repeats 2 --seed 9 --only 'it'\\''s' --no-controls";
    assert_eq!(folder.record().unwrap().command, format!("cairn lab run 'my row.toml' {said}"));
    let text = fs::read_to_string(folder.experiment()).unwrap();
    fs::write(folder.experiment(), text.replace("'5 Mbit/s'", "'6 Mbit/s'")).unwrap();
    let told = resume(folder.path(), &options.programs, Build::default(), |_| {}).unwrap_err().to_string();
    let place = folder.experiment().display().to_string();
    assert!(place.contains(' '), "the test needs a folder with a blank in its name: {place}");
    assert!(told.ends_with(&format!("start anew with: cairn lab run '{place}' {said}")), "{told}");
    // Whoever has changed the record has no command pasted by others.
    let mut record = folder.record().unwrap();
    record.command = "cairn lab run x --on sim; rm -r / --only 'a;b' --oops 'c' --repeats 2".to_owned();
    folder.write_record(&record).unwrap();
    let told = resume(folder.path(), &options.programs, Build::default(), |_| {}).unwrap_err().to_string();
    assert!(told.ends_with(&format!("cairn lab run '{place}' --on sim --only 'a;b' --repeats 2")), "{told}");
    // A record that is lost says nothing, and folders show how many repeats there were.
    fs::remove_file(folder.path().join("run.json")).unwrap();
    let told = resume(folder.path(), &options.programs, Build::default(), |_| {}).unwrap_err().to_string();
    assert!(told.ends_with(&format!("cairn lab run '{place}' --on sim --repeats 2")), "{told}");
}

#[test]
fn the_command_of_a_sweep_of_an_earlier_version_is_built_from_what_its_folder_has() {
    let above = TestFolder::absent("swept before");
    let text = format!(
        "title = 'Row'\nuntil_done = true\nduration = '60 s'\n[defaults.link]\nrate = '5 Mbit/s'\n{ROW}\n"
    );
    let values = ["5 Mbit/s", "8 Mbit/s"].map(str::to_owned);
    let path = std::path::Path::new("row.toml");
    let swept = Experiment::swept(path, &text, "defaults.link.rate", &values).unwrap();
    let folder = execute(&swept, &Options { seed: Some(9), ..options(&above) }, |_| {}).unwrap();
    let expected =
        "cairn lab sweep row.toml --key defaults.link.rate --values '5 Mbit/s,8 Mbit/s' --on sim --seed 9";
    let mut record = folder.record().unwrap();
    assert_eq!(record.command, expected);
    record.command = "cairn lab run 'row.toml with --key and --values' --on sim --seed 9".to_owned();
    folder.write_record(&record).unwrap();
    let run = RunData::read(&folder).unwrap();
    assert_eq!(run.faults, Vec::<String>::new());
    let page = results_markdown(std::slice::from_ref(&run), None);
    assert!(page.contains(&format!("`{expected}`")), "{page}");
    assert!(page.contains("\n\nNothing is stated."), "no heading without a word: {page}");
    // Where nothing has it any more no command is told that cannot be run.
    fs::write(folder.experiment(), "").unwrap();
    let told = resume(folder.path(), &options(&above).programs, Build::default(), |_| {}).unwrap_err();
    assert!(told.to_string().ends_with("; put it back"), "{told}");
}

#[test]
fn derived_files_that_were_changed_or_taken_away_are_named_and_derived_again() {
    let row = Row::new("derived");
    let path = row.path("case-01/repeat-02/derived/traffic-b.csv");
    let whole = fs::read(&path).unwrap();
    let damages: [fn(&std::path::Path); 3] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, fs::read_to_string(path).unwrap().replacen('0', "1", 1)).unwrap(),
    ];
    for damage in damages {
        damage(&path);
        let (fault, way_out) = row.damage(Outcome::NotTestable);
        let what = "repeat 2 of 3 was changed after it was written (derived/traffic-b.csv)";
        assert!(fault.starts_with(what), "{fault}");
        assert!(way_out.contains("cairn lab show --derive "), "{way_out}");
        write_report(&row.folder).unwrap();
        derive_anew(&row.folder).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
        row.is_whole();
    }
}

#[test]
fn raw_files_that_were_changed_are_measured_again_once_the_repeats_are_taken_away() {
    let row = Row::new("raw-lost");
    for repeat in [1, 3] {
        fs::remove_file(row.path(&format!("case-01/repeat-0{repeat}/raw/transfers-files.csv.gz"))).unwrap();
    }
    let (fault, way_out) = row.damage(Outcome::NotTestable);
    let what = "repeats 1, 3 of 3 were changed after they were written (raw/transfers-files.csv.gz)";
    assert!(fault.starts_with(what), "{fault}");
    let places = [1, 3].map(|repeat| row.path(&format!("case-01/repeat-0{repeat}")).display().to_string());
    assert!(
        way_out.starts_with(&format!("put it back, or take {} away and", places.join(", "))),
        "{way_out}"
    );
    places.iter().for_each(|place| fs::remove_dir_all(place).unwrap());
    let (fault, way_out) = row.damage(Outcome::NotTestable);
    assert!(fault.starts_with("repeats 1, 3 of 3 are missing from the folder, and nothing"), "{fault}");
    assert!(way_out.contains("cairn lab resume"), "{way_out}");
    row.resume().unwrap();
    row.is_whole();
}

#[test]
fn tables_of_results_that_were_changed_are_named_and_written_again() {
    let row = Row::new("tables");
    let look = || {
        let mut run = row.read();
        run.look_at_tables();
        (run.faults, run.ways_out, run.is_damaged)
    };
    assert_eq!(look(), (Vec::new(), Vec::new(), false), "there is no report yet");
    write_report(&row.folder).unwrap();
    assert_eq!(look(), (Vec::new(), Vec::new(), false));
    // Without their hashes nobody would see it.
    fs::remove_file(row.path("results.sha256")).unwrap();
    let (faults, ways_out, is_damaged) = look();
    assert!(is_damaged && faults[0].starts_with("results.sha256 is missing"), "{faults:?}");
    assert!(ways_out[0].contains("cairn lab show"), "{ways_out:?}");
    write_report(&row.folder).unwrap();
    assert_eq!(look(), (Vec::new(), Vec::new(), false));
    fs::write(row.path("results.csv"), "").unwrap();
    let (faults, ways_out, is_damaged) = look();
    assert_eq!(faults, ["results.csv was changed after the report was written"]);
    assert!(ways_out[0].contains("cairn lab show /") && is_damaged, "{ways_out:?}");
    fs::remove_file(row.path("results.parquet")).unwrap();
    assert!(look().0[0].starts_with("results.csv, results.parquet were changed"), "{:?}", look().0);
    write_report(&row.folder).unwrap();
    assert_eq!(look(), (Vec::new(), Vec::new(), false));
}

#[test]
fn of_a_run_of_an_earlier_version_it_is_said_that_changes_would_go_unnoticed() {
    let row = Row::new("earlier");
    let run = row.read();
    assert_eq!(run.unhashed, None);
    assert!(!results_markdown(&[run], None).contains("not hashed"));
    let strip = |fields: &[&str]| {
        for repeat in 1..=3 {
            let path = row.path(&format!("case-01/repeat-0{repeat}/result.json"));
            let mut value: serde_json::Value =
                serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            fields.iter().for_each(|field| drop(value.as_object_mut().unwrap().remove(*field)));
            fs::write(&path, value.to_string()).unwrap();
        }
        let mut record: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(row.path("run.json")).unwrap()).unwrap();
        ["hashes", "sha256"].iter().for_each(|field| drop(record.as_object_mut().unwrap().remove(*field)));
        fs::write(row.path("run.json"), record.to_string()).unwrap();
        row.is_whole();
        row.read().unhashed.unwrap()
    };
    let rest = "not hashed (run by an earlier version): changes would go unnoticed";
    assert_eq!(strip(&["derived_files", "sha256"]), format!("derived files {rest}"));
    // Deriving anew makes it none of this version.
    derive_anew(&row.folder).unwrap();
    row.is_whole();
    assert_eq!(row.read().unhashed, Some(format!("derived files {rest}")));
    assert_eq!(strip(&["raw_files", "sha256"]), format!("raw/derived files {rest}"));
    derive_anew(&row.folder).unwrap();
    row.is_whole();
    assert_eq!(row.read().unhashed, Some(format!("raw/derived files {rest}")));
    let page = fs::read_to_string(write_report(&row.folder).unwrap()).unwrap();
    assert!(page.contains(&format!("Raw/derived files {rest}")), "the report says so");
    let run = row.read();
    assert_eq!(result_rows(std::slice::from_ref(&run))[0].run.notes, [format!("raw/derived files {rest}")]);
    assert!(
        results_markdown(&[run], None)
            .replace("\n  ", " ")
            .contains(&format!("**Raw/derived files {rest}**"))
    );
    // A raw file that is gone is named by those that are there: numbers would be others without it.
    for file in ["occupancy-b.csv.gz", "store-a.csv.gz", "forwarder-c.csv.gz", "network.json"] {
        let (place, aside) = (row.path(&format!("case-01/repeat-02/raw/{file}")), row.path("aside"));
        fs::rename(&place, &aside).unwrap();
        let refused = derive_anew(&row.folder).unwrap_err().to_string();
        let name = file.trim_end_matches(".gz");
        assert!(refused.contains(&format!("case-01/repeat-02/raw/{name}: it is missing")), "{refused}");
        fs::rename(&aside, &place).unwrap();
    }
    derive_anew(&row.folder).unwrap();
    // What is gone is told all the same.
    fs::remove_file(row.path("case-01/repeat-02/derived/forwarder-b.csv")).unwrap();
    assert!(row.damage(Outcome::NotTestable).0.contains("(derived/forwarder-b.csv)"));
}

#[test]
fn what_a_run_may_last_at_most_takes_no_memory() {
    let above = TestFolder::new("long");
    let run = |duration: &str| {
        let text = format!(
            "title = 'Row'\nuntil_done = true\nduration = '{duration}'\n[defaults.link]\nrate = '5 Mbit/s'\n{ROW}"
        );
        let folder = run_in_virtual_time("row", &text, &above);
        let of = |name: &str| fs::read(folder.path().join("case-01/repeat-01").join(name)).unwrap();
        (of("derived/traffic-b.csv"), of("raw/traffic-b.csv.gz").len(), of("derived/forwarder-b.csv"))
    };
    // Of the seconds of this one alone tables would have taken a terabyte.
    assert_eq!(run("500000 h"), run("20 s"));
}

#[test]
fn a_repeat_of_another_case_or_of_the_control_is_no_repeat_of_this_one_and_is_not_derived_anew() {
    let above = TestFolder::new("of another case");
    let text = format!(
        "title = 'Row'\nuntil_done = true\nduration = '60 s'\nrepeats = 2\n[defaults.link]\nrate = '5 Mbit/s'\n\
         {ROW}\n[[expect]]\nname = 'E'\nsay = 'S'\nvalue = 'files.duration'\nat_most = 0.5\n\
         [[control]]\nname = 'slow'\nremoves = 'a window'\nfails = ['E']\nset = {{ 'download.files.window' = 1 }}\n\
         [[sweep]]\nkey = 'defaults.link.rate'\nvalues = ['5 Mbit/s', '6 Mbit/s']\n"
    );
    let folder = run_in_virtual_time("row", &text, &above);
    let first = folder.path().join("case-01");
    let aside = folder.path().join("aside");
    // All repeats of the next cases, the control's among them, and one of the other case alone.
    let mut others: Vec<_> = (2..5).map(|case| folder.path().join(format!("case-0{case}"))).collect();
    others.retain(|other| other.is_dir());
    assert!(others.len() >= 2, "a second case and a control");
    for other in others {
        fs::rename(&first, &aside).unwrap();
        copy(&other, &first);
        assert!(RunData::read(&folder).unwrap().is_damaged);
        let refused = derive_anew(&folder).map_err(|error| error.to_string());
        let refused = refused.expect_err("a repeat of another case is taken for one of this");
        assert!(refused.contains("case-01/repeat-01/result.json: it is repeat-01 of \""), "{refused}");
        assert!(RunData::read(&folder).unwrap().is_damaged, "and it stays told");
        fs::remove_dir_all(&first).unwrap();
        fs::rename(&aside, &first).unwrap();
    }
    derive_anew(&folder).unwrap();
    assert!(!RunData::read(&folder).unwrap().is_damaged);
}

#[test]
fn while_somebody_is_at_work_in_a_folder_nobody_is_sent_to_where_he_is_refused() {
    let row = Row::new("folders-at-work");
    let mut record = row.folder.record().unwrap();
    record.complete = false;
    row.folder.write_record(&record).unwrap();
    let all_of = |run: &RunData| run.ways_out.join("; ");
    let summary = || Comparison::of(row.read(), row.read()).summary().join(" ");
    assert!(summary().contains("cairn lab resume"), "{}", summary());
    fs::write(row.path("case-01/repeat-02/result.json"), "{").unwrap();
    assert!(all_of(&row.read()).contains("measure it again with: cairn lab resume"));
    let held = row.folder.lock().unwrap();
    let process = format!("somebody is at work on it: process {}", std::process::id());
    for told in [all_of(&row.read()), summary()] {
        assert!(told.contains(&process) && !told.contains("resume"), "{told}");
    }
    drop(held);
    assert!(summary().contains("cairn lab resume"), "{}", summary());
}

#[test]
fn a_repeat_that_was_changed_is_in_no_number_of_a_comparison() {
    let row = Row::new("folders-compared");
    let change = |number: u32| {
        let place = row.path(&format!("case-01/repeat-0{number}/result.json"));
        let text = fs::read_to_string(&place).unwrap();
        assert!(text.contains("\"seconds\": "));
        fs::write(&place, text.replacen("\"seconds\": ", "\"seconds\": 1", 1)).unwrap();
    };
    let whole = row.read();
    change(2);
    let comparison = Comparison::of(whole, row.read());
    let counts: Vec<(u64, u64)> =
        comparison.pairs.iter().map(|pair| (pair.a.repeats, pair.b.repeats)).collect();
    assert!(counts.len() > 50 && counts.iter().all(|counts| *counts == (3, 2)), "{counts:?}");
    let summary = comparison.summary().join(" ");
    assert!(summary.contains("Repeats that are not as they were left are not compared."), "{summary}");
    [1, 3].into_iter().for_each(change);
    let comparison = Comparison::of(row.read(), row.read());
    assert_eq!((comparison.pairs.len(), comparison.is_incomplete()), (0, true));
    let summary = comparison.summary().join(" ");
    assert!(summary.ends_with("No number is left that could be compared."), "{summary}");
}

#[test]
fn of_a_run_on_machines_of_their_own_the_file_that_names_them_is_told_with_its_command() {
    let row = Row::new("folders-hosts");
    let command = || result_rows(&[row.read()]).remove(0).run.command;
    assert!(!command().contains("--hosts"), "{}", command());
    fs::write(row.path("hosts.toml"), "").unwrap();
    assert!(command().ends_with(" --hosts hosts.toml"), "{}", command());
    let page = fs::read_to_string(write_report(&row.folder).unwrap()).unwrap();
    assert_eq!(page.matches("--hosts hosts.toml").count(), 2, "to repeat it, and how it was begun");
}
