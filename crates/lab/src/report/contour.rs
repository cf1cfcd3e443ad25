//! Where a conclusion holds over two factors that were varied: a map with its boundary, and a table.

use super::data::RunData;
use super::document::{Figure, Table};
use super::factors::numbers;
use super::response::{Axes, Factors, MAX_FIGURES, Varied};
use super::verdict::{Outcome, Verdict, verdicts};
use crate::figure::{Data, GridCell, GridChart, GridRow};

/// In how many cases of a cell something was judged, and how often it held.
#[derive(Clone, Default)]
struct CellVerdicts {
    held: usize,
    failed: usize,
    open: usize,
    measured: Vec<String>,
}

impl CellVerdicts {
    fn note(&mut self, verdict: &Verdict) {
        match verdict.outcome {
            Outcome::Confirmed | Outcome::ByConstruction => self.held += 1,
            Outcome::Contradicted => self.failed += 1,
            Outcome::NotTestable => self.open += 1,
        }
        self.measured.push(verdict.found().0);
    }

    /// Whether it held in every case.
    fn holds(&self) -> bool {
        self.held > 0 && self.failed == 0 && self.open == 0
    }

    fn word(&self) -> &'static str {
        match (self.held, self.failed, self.open) {
            (0, 0, _) => "not testable",
            (_, 0, 0) => "holds",
            (0, _, 0) => "fails",
            _ => "in part",
        }
    }

    /// What was measured, where that is one number.
    fn shown(&self) -> &str {
        match self.measured.as_slice() {
            [one] => one,
            _ => self.word(),
        }
    }

    fn shade(&self) -> f64 {
        match self.word() {
            "holds" => 0.8,
            "fails" => 0.0,
            "in part" => 0.4,
            _ => f64::NAN,
        }
    }
}

/// What is expected of each case, over the last two factors: none where there are no two.
pub(super) fn figures(run: &RunData) -> Vec<(Figure, Table)> {
    let factors = Factors::of(run);
    let [.., rows, columns] = factors.varied.as_slice() else { return Vec::new() };
    let (rows, columns) = (&ordered(rows), &ordered(columns));
    let axes = Axes { rows, columns };
    let mut statements: Vec<(String, Vec<Vec<CellVerdicts>>)> = Vec::new();
    let of_cases: Vec<Verdict> = verdicts(run).into_iter().filter(|verdict| !verdict.elsewhere).collect();
    for verdict in &of_cases {
        let Some(case) = run.cases.iter().find(|case| case.plan.case == verdict.case) else { continue };
        let place = |factor: &Varied| {
            let word = factors.word_of(case, &factor.label)?;
            factor.values.iter().position(|value| *value == word)
        };
        let (Some(row), Some(column)) = (place(rows), place(columns)) else { continue };
        let at = statements.iter().position(|(say, _)| *say == verdict.say).unwrap_or_else(|| {
            let none = vec![vec![CellVerdicts::default(); columns.values.len()]; rows.values.len()];
            statements.push((verdict.say.clone(), none));
            statements.len() - 1
        });
        let cell = statements.get_mut(at).and_then(|(_, cells)| cells.get_mut(row)?.get_mut(column));
        if let Some(cell) = cell {
            cell.note(verdict);
        }
    }
    // What names its case was judged once: it has no place on a map.
    let is_judged = |cell: &&CellVerdicts| !cell.measured.is_empty();
    statements.retain(|(_, cells)| cells.iter().flatten().filter(is_judged).count() > 1);
    statements.truncate(MAX_FIGURES);
    let draw = |(number, (say, cells)): (usize, &(String, Vec<Vec<CellVerdicts>>))| {
        (figure(say, axes, cells, number), table(axes, cells))
    };
    statements.iter().enumerate().map(draw).collect()
}

/// A factor with its values by size, where they are numbers of one unit.
fn ordered(varied: &Varied) -> Varied {
    let Varied { label, values } = varied;
    let Some((_, places)) = numbers(values) else { return varied.clone() };
    let mut list: Vec<(f64, &String)> = places.into_iter().zip(values).collect();
    list.sort_by(|one, other| one.0.total_cmp(&other.0));
    let values = list.into_iter().map(|(_, value)| value.clone()).collect();
    Varied { label: label.clone(), values }
}

fn figure(say: &str, axes: Axes<'_>, cells: &[Vec<CellVerdicts>], number: usize) -> Figure {
    let Axes { rows, columns } = axes;
    let cell = |judged: &CellVerdicts| GridCell {
        text: if judged.measured.is_empty() { String::new() } else { judged.shown().to_owned() },
        shade: judged.shade(),
    };
    let row = |(name, cells): (&String, &Vec<CellVerdicts>)| GridRow {
        name: name.clone(),
        cells: cells.iter().map(cell).collect(),
    };
    let chart = GridChart {
        title: say.to_owned(),
        x: format!("{}; dark where it holds", columns.label),
        y: rows.label.clone(),
        columns: columns.values.clone(),
        rows: rows.values.iter().zip(cells).map(row).collect(),
    };
    let marked: Vec<Vec<bool>> =
        cells.iter().map(|row| row.iter().map(CellVerdicts::holds).collect()).collect();
    let judged = || cells.iter().flatten().filter(|cell| !cell.measured.is_empty());
    let held = judged().filter(|cell| cell.holds()).count();
    let caption = format!(
        "Where it holds over {} and {}: in {held} of {} pairs of values. The line is the boundary.",
        rows.label,
        columns.label,
        judged().count()
    );
    let name = format!("contour-{:02}", number + 1);
    Figure { name, drawing: chart.with_boundary(&marked), caption, data: Some(data(axes, cells)) }
}

/// Each pair of values with what came of it.
fn pairs<'a>(
    Axes { rows, columns }: Axes<'a>,
    cells: &'a [Vec<CellVerdicts>],
) -> impl Iterator<Item = (&'a String, &'a String, &'a CellVerdicts)> {
    let of_row = |(row, cells): (&'a String, &'a Vec<CellVerdicts>)| {
        columns.values.iter().zip(cells).map(move |(column, cell)| (row, column, cell))
    };
    rows.values.iter().zip(cells).flat_map(of_row).filter(|(.., cell)| !cell.measured.is_empty())
}

fn data(axes: Axes<'_>, cells: &[Vec<CellVerdicts>]) -> Data {
    let column =
        |word: &dyn Fn((&String, &String, &CellVerdicts)) -> String| pairs(axes, cells).map(word).collect();
    Data::default()
        .words(&axes.rows.label, column(&|(row, ..)| row.clone()))
        .words(&axes.columns.label, column(&|(_, column, _)| column.clone()))
        .words("outcome", column(&|(.., cell)| cell.word().to_owned()))
        .words("measured", column(&|(.., cell)| cell.measured.join("; ")))
}

/// For each row, up to which columns it holds.
fn table(Axes { rows, columns }: Axes<'_>, cells: &[Vec<CellVerdicts>]) -> Table {
    let mut table = Table::new(&[rows.label.as_str(), "holds at", "fails at", "in part or not testable at"]);
    for (row, cells) in rows.values.iter().zip(cells) {
        let at = |words: &[&str]| {
            let judged = columns.values.iter().zip(cells).filter(|(_, cell)| !cell.measured.is_empty());
            let list: Vec<&str> = judged
                .filter(|(_, cell)| words.contains(&cell.word()))
                .map(|(word, _)| word.as_str())
                .collect();
            if list.is_empty() { "–".to_owned() } else { list.join(", ") }
        };
        let cells = [row.clone(), at(&["holds"]), at(&["fails"]), at(&["in part", "not testable"])];
        table.rows.push(cells.into_iter().map(Into::into).collect());
    }
    table
}
