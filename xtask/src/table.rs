//! Plain tables for the terminal.

/// Columns as wide as their widest cell; the first is aligned left, the others right.
pub(crate) fn render(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|cell| cell.len()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    for row in std::iter::once(&header).chain(rows) {
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            match column {
                0 => text.push_str(&format!("  {cell:<width$}")),
                _ => text.push_str(&format!("  {cell:>width$}")),
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [vec!["canary".into(), "9".into()], vec!["x".into(), "12345678".into()]];
        assert_eq!(
            render(&["target", "runs"], &rows),
            "  target      runs\n  canary         9\n  x       12345678\n"
        );
    }
}
