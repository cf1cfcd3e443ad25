//! Tables of numbers with named columns, as CSV. An empty field is a number that is missing.

use std::io::{self, Read};
use std::path::Path;

use formats::csv;

use crate::memory_files;
use crate::run::open_table;

/// A table of numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// The columns' names.
    pub columns: Vec<String>,
    /// The rows, each with a number for every column; a missing one is not a number.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(columns: &[&str]) -> Self {
        Table { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: Vec::new() }
    }

    /// The numbers of a column; none when there is no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> Vec<f64> {
        let Some(index) = self.columns.iter().position(|column| column == name) else { return Vec::new() };
        self.rows.iter().map(|row| row.get(index).copied().unwrap_or(f64::NAN)).collect()
    }

    /// Points of one column over another, without those where either is missing.
    #[must_use]
    pub fn points(&self, x: &str, y: &str) -> Vec<(f64, f64)> {
        let pairs = self.column(x).into_iter().zip(self.column(y));
        pairs.filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
    }

    /// Reads CSV. What is not a number becomes a missing one.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(input: impl Read) -> io::Result<Self> {
        let mut table = csv::Reader::new(input);
        let names = table.next().transpose()?.unwrap_or_default();
        let columns = names.iter().map(|name| name.trim().to_owned()).collect();
        let numbers =
            |row: csv::Row| row.iter().map(|field| field.trim().parse().unwrap_or(f64::NAN)).collect();
        let rows = table.map(|row| row.map(numbers)).collect::<io::Result<_>>()?;
        Ok(Table { columns, rows })
    }

    /// Writes CSV.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut table = csv::Writer::new(memory_files::create(path)?);
        table.row(&self.columns)?;
        for row in &self.rows {
            table.row(row.iter().map(|value| field(*value)))?;
        }
        table.flush()
    }
}

/// A number as a field: short, and empty when it is missing.
fn field(value: f64) -> String {
    if value.is_finite() { format!("{}", (value * 1e6).round() / 1e6) } else { String::new() }
}

/// A table, or one without rows when there is none.
pub(super) fn table_if_there(path: &Path) -> io::Result<Table> {
    match open_table(path) {
        Ok(file) => Table::read(file),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Table::default()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_columns_name_may_hold_what_would_end_a_field() {
        let text = csv::to_string([["time", "of \"/a\",\nand /b"], ["1", "2"]]);
        let table = Table::read(text.as_bytes()).unwrap();
        assert_eq!(table.points("time", "of \"/a\",\nand /b"), [(1.0, 2.0)]);
    }

    #[test]
    fn missing_numbers_stay_missing() {
        let table = Table::read("time,a,b\n1,2,\n2,,4\n".as_bytes()).unwrap();
        assert_eq!(table.points("time", "a"), [(1.0, 2.0)]);
        assert_eq!(table.points("time", "b"), [(2.0, 4.0)]);
        assert!(table.column("c").is_empty());
        assert_eq!(field(f64::NAN), "");
        assert_eq!(field(0.25), "0.25");
    }
}
