//! Which single departure from the paper's text would explain its numbers? Nothing is fitted: each departure
//! stands in the experiment file, and is run as it stands.

use super::experiment::Experiment;
use super::results::{one, places};
use super::setup::Configuration;
use crate::parallel;
use crate::study::report::{Report, StudyCell, StudyTable};
use crate::study::{Runner, StudyError};

pub(super) fn add(
    experiment: &Experiment,
    runner: &Runner<'_>,
    report: &mut Report,
) -> Result<(), StudyError> {
    if experiment.departures.is_empty() {
        return Ok(());
    }
    let paper = |place: &Configuration| {
        experiment
            .setup
            .workloads
            .get(place.workload)
            .and_then(|section| section.paper(place.gb, place.ratio))
    };
    let cells: Vec<(Configuration, f64)> =
        places(experiment).into_iter().filter_map(|place| Some((place, paper(&place)?))).collect();
    let mut settings = Vec::new();
    for departure in &experiment.departures {
        for (place, _) in &cells {
            settings
                .push((*place, experiment.departed(&experiment.setup.workloads[place.workload], departure)));
        }
    }
    let means = parallel::for_each(&settings, runner, |(place, setting)| {
        let rule = setting.rule(place.gb, place.ratio);
        let repeats = experiment.departure_repeats.max(1);
        let rates = (0..repeats).map(|repeat| {
            Ok(one(setting, rule, experiment.setup.stream(place.workload, repeat))?.hit_rate())
        });
        let sum: Result<f64, StudyError> = rates.sum();
        Ok::<f64, StudyError>(sum? * 100.0 / f64::from(repeats))
    });
    let means = means.into_iter().collect::<Result<Vec<f64>, _>>()?;
    let mut table = StudyTable::new(
        "departures",
        "What single departures from the text would make of the overall hit rate, %",
        &["departure"],
    );
    table.columns.extend(cells.iter().map(|(place, _)| experiment.setup.column(*place)));
    table.columns.push("farthest from the paper".into());
    let paper = cells.iter().map(|(_, rate)| StudyCell::Number(*rate, 1));
    table.rows.push(
        [StudyCell::from("the paper's numbers")].into_iter().chain(paper).chain([StudyCell::Empty]).collect(),
    );
    for (departure, means) in experiment.departures.iter().zip(means.chunks(cells.len().max(1))) {
        let farthest = means.iter().zip(&cells).map(|(mean, (_, paper))| mean - paper);
        let farthest = farthest.fold(0.0, |most: f64, one| if one.abs() > most.abs() { one } else { most });
        let mut row = vec![StudyCell::from(departure.name.as_str())];
        row.extend(means.iter().map(|mean| StudyCell::Number(*mean, 1)));
        row.push(StudyCell::Text(format!("{farthest:+.1}")));
        table.rows.push(row);
    }
    table.notes.push(format!("Means over {} repeats.", experiment.departure_repeats.max(1)));
    report.tables.push(table);
    Ok(())
}
