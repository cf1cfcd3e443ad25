//! Where conclusions hold: what came of each statement over the values of a parameter, with the figures over
//! it.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use super::data::RunData;
use super::document::Figure;
use super::paper;
use super::parameter::{label, variant_and_value};
use super::results::{begun, of_any_case};
use super::verdict::{Outcome, verdicts};
use crate::experiment::check::figures::OVER_PARAMETER;
use crate::prose::{indented, name, sentences, wrapped};

/// A run over a parameter, with a figure over it.
struct Range<'r> {
    run: &'r RunData,
    label: &'r str,
    figures: Vec<Figure>,
    statements: Vec<Statement>,
}

/// A statement that was judged at several values of the parameter, and at which it has which verdict.
struct Statement {
    say: String,
    /// What is measured, in whichever case.
    measure: String,
    /// In the order of [`Outcome::ALL`].
    places: [Places; 4],
}

/// Values of the parameter by the variants of the experiment that have them.
#[derive(Default)]
struct Places(Vec<(String, Vec<String>)>);

impl Places {
    fn add(&mut self, variant: &str, value: &str) {
        match self.0.iter_mut().find(|(other, _)| other == variant) {
            Some((_, values)) => values.push(value.to_owned()),
            None => self.0.push((variant.to_owned(), vec![value.to_owned()])),
        }
    }

    /// The values, whichever variant has them.
    fn values(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|(_, values)| values).map(String::as_str)
    }

    fn words(&self) -> String {
        let of_variant = |(variant, values): &(String, Vec<String>)| match variant.as_str() {
            "" => format!("at {}", name(&values.join(", "))),
            variant => format!("with {} at {}", name(variant), name(&values.join(", "))),
        };
        self.0.iter().map(of_variant).collect::<Vec<_>>().join(", and ")
    }
}

impl Statement {
    fn is_over_several(&self) -> bool {
        let values: HashSet<&str> = self.places.iter().flat_map(Places::values).collect();
        values.len() > 1
    }
}

impl<'r> Range<'r> {
    /// What a run says over its parameter; nothing where it draws no figure over one, or no statement is
    /// judged at several of its values: one value does not say how far a statement holds.
    fn of(run: &'r RunData) -> Option<Self> {
        let figures = paper::over_parameter(run);
        let label = label(run).filter(|_| !figures.is_empty())?;
        let mut statements: Vec<Statement> = Vec::new();
        for verdict in verdicts(run).iter().filter(|verdict| !verdict.elsewhere) {
            let Some((variant, value)) = variant_and_value(run, &verdict.case) else { continue };
            let say = begun(run, &verdict.say);
            let measure = of_any_case(&verdict.measure);
            let is_it = |other: &Statement| other.say == say && other.measure == measure;
            let at = statements.iter().position(is_it).unwrap_or_else(|| {
                let measure = measure.to_owned();
                statements.push(Statement { say, measure, places: Default::default() });
                statements.len() - 1
            });
            let outcome = Outcome::ALL.iter().position(|outcome| *outcome == verdict.outcome);
            let places = statements.get_mut(at).and_then(|statement| statement.places.get_mut(outcome?));
            places.into_iter().for_each(|places| places.add(variant, value));
        }
        statements.retain(Statement::is_over_several);
        (!statements.is_empty()).then_some(Range { run, label, figures, statements })
    }

    fn write(&self, page: &mut String, pictures: Option<&str>) {
        let experiment = &self.run.record.experiment;
        let figures: Vec<String> =
            self.figures.iter().map(|figure| link(experiment, figure, pictures)).collect();
        let head = format!("**{}**, over {}: {}.", name(experiment), name(self.label), figures.join(", "));
        let _ = write!(page, "\n{}", wrapped(&head));
        page.push('\n');
        for Statement { say, places, .. } in &self.statements {
            let found = Outcome::ALL.iter().zip(places).filter(|(_, places)| !places.0.is_empty());
            let words: Vec<String> =
                found.map(|(outcome, places)| format!("*{}* {}", outcome.word(), places.words())).collect();
            page.push_str(&indented("- ", "  ", &format!("{}: {}.", sentences(say), words.join("; "))));
        }
    }
}

/// The statements of a run, each with its measure, that are judged at several values of a parameter over
/// which it draws a figure.
pub(super) fn judged_at_several(run: &RunData) -> HashSet<(String, String)> {
    if !run.experiment.file.figure.iter().any(|figure| figure.form == OVER_PARAMETER) {
        return HashSet::new();
    }
    let mut values: HashMap<(String, String), HashSet<String>> = HashMap::new();
    for verdict in verdicts(run).into_iter().filter(|verdict| !verdict.elsewhere) {
        let Some((_, value)) = variant_and_value(run, &verdict.case) else { continue };
        let statement = (verdict.say, of_any_case(&verdict.measure).to_owned());
        values.entry(statement).or_default().insert(value.to_owned());
    }
    values.into_iter().filter(|(_, values)| values.len() > 1).map(|(statement, _)| statement).collect()
}

/// The name of a figure's file: that of its experiment, and its own.
fn file(experiment: &str, figure: &Figure) -> String {
    format!("{experiment}-{}.svg", figure.name)
}

/// How a figure is called, with its file where pictures are written.
fn link(experiment: &str, figure: &Figure, pictures: Option<&str>) -> String {
    let name = figure.name.replace("-0", " ").replace('-', " ");
    match pictures {
        Some(folder) => format!("[{name}]({folder}/{})", file(experiment, figure)),
        None => name,
    }
}

/// The chapter that says where conclusions hold; nothing where no run has a parameter. `pictures` is the
/// folder that has the figures, as the page names it.
pub(super) fn chapter(page: &mut String, runs: &[RunData], pictures: Option<&str>) {
    let ranges: Vec<Range<'_>> = runs.iter().filter_map(Range::of).collect();
    if ranges.is_empty() {
        return;
    }
    let intro = "\
These experiments run over a parameter that a conclusion hangs on, and draw what is measured over it. Each \
statement that was judged at two values or more stands with the values at which it has which verdict; the verdicts stand below in full, one for each \
value. A statement that names what it is held against at one value of the parameter says nothing at that value.";
    let _ = write!(page, "\n## Where conclusions hold\n\n{}", wrapped(intro));
    ranges.iter().for_each(|range| range.write(page, pictures));
}

/// The figures of a run that are over a parameter, as the page shows them.
pub(super) fn pictures(page: &mut String, run: &RunData, folder: &str) {
    for figure in paper::over_parameter(run) {
        let words = figure.caption.split(". ").next().unwrap_or_default().trim_end_matches('.');
        let picture = format!("![{}]({folder}/{})", name(words), file(&run.record.experiment, &figure));
        let _ = write!(page, "\n{}", wrapped(&picture));
    }
}

/// Writes these figures of all runs into a folder, as SVG.
pub(super) fn write_pictures(runs: &[RunData], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for run in runs {
        for figure in paper::over_parameter(run) {
            let path = folder.join(file(&run.record.experiment, &figure));
            fs::write(path, figure.drawing.to_svg())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_over_several_values_only_where_two_were_judged() {
        let judged = |values: &[(&str, &str)]| {
            let mut places: [Places; 4] = Default::default();
            values.iter().zip(0..).for_each(|((variant, value), number)| {
                if let Some(places) = places.get_mut(number % 4) {
                    places.add(variant, value);
                }
            });
            Statement { say: String::new(), measure: String::new(), places }.is_over_several()
        };
        assert!(judged(&[("", "10 %"), ("", "25 %")]), "whatever came of it");
        assert!(!judged(&[("", "10 %")]) && !judged(&[("fair", "10 %"), ("per face", "10 %")]));
    }

    #[test]
    fn values_stand_together_by_their_variant() {
        let mut places = Places::default();
        places.add("", "10 %");
        places.add("", "25 %");
        assert_eq!(places.words(), "at 10 %, 25 %");
        let mut places = Places::default();
        places.add("fair share", "50000");
        places.add("limit per face", "50000");
        places.add("fair share", "100000");
        assert_eq!(places.words(), "with fair share at 50000, 100000, and with limit per face at 50000");
    }
}
