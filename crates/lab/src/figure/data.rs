//! The numbers behind a figure, as CSV for people and as Parquet for their tools.

use std::io;
use std::iter;

use formats::csv;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Words.
    Text(Vec<String>),
    /// Numbers; what is not a number is missing.
    Number(Vec<f64>),
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Yes or no.
    Boolean(Vec<bool>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Column::Text(list) => list.len(),
            Column::Number(list) => list.len(),
            Column::Whole(list) => list.len(),
            Column::Boolean(list) => list.len(),
        }
    }

    fn field(&self, row: usize) -> String {
        match self {
            Column::Text(list) => list.get(row).cloned().unwrap_or_default(),
            Column::Number(list) => match list.get(row) {
                Some(number) if number.is_finite() => number.to_string(),
                _ => String::new(),
            },
            Column::Whole(list) => list.get(row).map(ToString::to_string).unwrap_or_default(),
            Column::Boolean(list) => list.get(row).map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// A table of named columns, all of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    pub(super) columns: Vec<(String, Column)>,
}

impl Data {
    /// With one more column of words.
    #[must_use]
    pub fn words(mut self, name: &str, words: Vec<String>) -> Self {
        self.columns.push((name.to_owned(), Column::Text(words)));
        self
    }

    /// With one more column of numbers.
    #[must_use]
    pub fn numbers(mut self, name: &str, numbers: Vec<f64>) -> Self {
        self.columns.push((name.to_owned(), Column::Number(numbers)));
        self
    }

    /// With one more column of whole numbers.
    #[must_use]
    pub fn whole(mut self, name: &str, numbers: Vec<i64>) -> Self {
        self.columns.push((name.to_owned(), Column::Whole(numbers)));
        self
    }

    /// With one more column of yes or no.
    #[must_use]
    pub fn booleans(mut self, name: &str, values: Vec<bool>) -> Self {
        self.columns.push((name.to_owned(), Column::Boolean(values)));
        self
    }

    /// How many rows there are: as many as the shortest column has.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.columns.iter().map(|(_, column)| column.len()).min().unwrap_or(0)
    }

    /// Comma-separated values, all digits.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let names = self.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let row = |row| self.columns.iter().map(|(_, column)| column.field(row)).collect();
        csv::to_string(iter::once(names).chain((0..self.rows()).map(row)))
    }

    /// The row of titles, into a table that is written part by part.
    pub(crate) fn write_csv_head<W: io::Write>(&self, to: &mut csv::Writer<W>) -> io::Result<()> {
        to.row(self.columns.iter().map(|(name, _)| name))
    }

    /// The rows below it.
    pub(crate) fn write_csv_rows<W: io::Write>(&self, to: &mut csv::Writer<W>) -> io::Result<()> {
        let row = |row| self.columns.iter().map(move |(_, column)| column.field(row));
        (0..self.rows()).try_for_each(|number| to.row(row(number)))
    }
}

impl super::LineChart {
    /// The points of all lines.
    #[must_use]
    pub fn data(&self) -> Data {
        let points =
            || self.series.iter().flat_map(|series| series.points.iter().map(move |point| (series, point)));
        Data::default()
            .words("series", points().map(|(series, _)| series.label.clone()).collect())
            .numbers(&self.x.caption(), points().map(|(_, point)| point.0).collect())
            .numbers(&self.y.column(&self.title), points().map(|(_, point)| point.1).collect())
    }
}

impl super::BarChart {
    /// The bars, with their deviations where there are some.
    #[must_use]
    pub fn data(&self, deviations: &[Vec<f64>]) -> Data {
        let (mut groups, mut labels, mut values, mut spread) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (place, group) in self.groups.iter().enumerate() {
            for (number, value) in group.values.iter().enumerate() {
                groups.push(group.name.clone());
                labels.push(self.labels.get(number).cloned().unwrap_or_default());
                values.push(*value);
                let deviation = deviations.get(place).and_then(|list| list.get(number));
                spread.push(deviation.copied().unwrap_or(f64::NAN));
            }
        }
        let data = Data::default()
            .words(&self.x, groups)
            .words("series", labels)
            .numbers(&self.y.column(&self.title), values);
        if deviations.is_empty() { data } else { data.numbers("deviation", spread) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, BarChart, BarGroup, LineChart, Series};
    use super::*;

    #[test]
    fn a_column_of_numbers_without_a_unit_is_called_what_its_chart_is() {
        let chart = |unit: &str| LineChart {
            title: "Pending Interests".into(),
            x: Axis::new("time", "s"),
            y: Axis::new("", unit),
            series: vec![Series { label: "n1".into(), points: vec![(0.0, 1.5)] }],
        };
        assert_eq!(chart("").data().to_csv(), "series,time (s),Pending Interests\nn1,0,1.5\n");
        assert_eq!(chart("bit/s").data().to_csv(), "series,time (s),bit/s\nn1,0,1.5\n");
        let group = BarGroup { name: "n1".into(), values: vec![1.5] };
        let (title, x, labels, groups) =
            ("Pending Interests".into(), "node".into(), vec!["a".into()], vec![group]);
        let bars = BarChart { title, x, y: Axis::new("", ""), labels, groups };
        assert_eq!(
            bars.data(&[vec![0.1]]).to_csv(),
            "node,series,Pending Interests,deviation\nn1,a,1.5,0.1\n"
        );
    }

    #[test]
    fn missing_numbers_are_empty_fields_and_commas_are_quoted() {
        let data = Data::default()
            .words("case", vec!["a, b".into(), "c".into()])
            .numbers("mean", vec![0.1 + 0.2, f64::NAN]);
        assert_eq!(data.to_csv(), "case,mean\n\"a, b\",0.30000000000000004\nc,\n");
    }
}
