//! A document as one page of HTML that needs nothing beside itself.

use std::fmt::Write;

use formats::markup::escaped;

use super::document::{Block, Cell, Document, Figure, Table, Tone};
use super::style;

use crate::figure::svg;

/// A sentence for the page: words between backticks are code.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (number, part) in escaped(text).split('`').enumerate() {
        match number % 2 {
            0 => out.push_str(part),
            _ => out += &format!("<code>{part}</code>"),
        }
    }
    out
}

/// The page.
pub(super) fn page(document: &Document) -> String {
    let title = escaped(&document.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\"><title>{title}</title>\
         <style>{}{}{}</style></head><body><main>\n<p class=\"soft\">{}</p><h1>{title}</h1>\n",
        svg::variables(),
        svg::style(),
        style::PAGE,
        prose(&document.place)
    );
    let mut first = true;
    for block in &document.blocks {
        if first && matches!(block, Block::Chapter { .. }) {
            contents(&mut out, document);
            first = false;
        }
        self::block(&mut out, block);
    }
    out.push_str("</main></body></html>\n");
    out
}

fn contents(out: &mut String, document: &Document) {
    out.push_str("<nav>");
    for (title, anchor) in document.chapters() {
        let _ = write!(out, "<a href=\"#{anchor}\">{}</a> ", escaped(title));
    }
    out.push_str("</nav>\n");
}

fn block(out: &mut String, block: &Block) {
    let _ = match block {
        Block::Chapter { title, anchor } => writeln!(out, "<h2 id=\"{anchor}\">{}</h2>", prose(title)),
        Block::Heading(title) => writeln!(out, "<h3>{}</h3>", prose(title)),
        Block::Paragraph(text) => writeln!(out, "<p>{}</p>", prose(text)),
        Block::Remark(text) => writeln!(out, "<p class=\"soft\">{}</p>", prose(text)),
        Block::Warning(text) => writeln!(out, "<p class=\"warning\">{}</p>", prose(text)),
        Block::Code(text) => writeln!(out, "<pre><code>{}</code></pre>", escaped(text)),
        Block::Facts(facts) => {
            let fact = |(value, name): &(String, String)| {
                format!("<div class=\"fact\"><b>{}</b><span>{}</span></div>", escaped(value), prose(name))
            };
            writeln!(out, "<div class=\"facts\">{}</div>", facts.iter().map(fact).collect::<String>())
        }
        Block::Table(table) => {
            out.push_str(&self::table(table));
            Ok(())
        }
        Block::Figure(figure) => writeln!(out, "<div class=\"wide\">{}</div>", self::figure(figure)),
        Block::Gallery(figures) => {
            let all: String = figures.iter().map(figure).collect();
            writeln!(out, "<div class=\"pictures\">{all}</div>")
        }
        Block::Folded { title, blocks } => {
            let _ = writeln!(out, "<details><summary>{}</summary>", prose(title));
            for block in blocks {
                self::block(out, block);
            }
            writeln!(out, "</details>")
        }
    };
}

fn figure(figure: &Figure) -> String {
    let caption = if figure.caption.is_empty() {
        String::new()
    } else {
        format!("<figcaption>{}</figcaption>", prose(&figure.caption))
    };
    format!("<figure>{}{caption}</figure>\n", figure.drawing.to_inline_svg())
}

fn table(table: &Table) -> String {
    let mut out = String::from("<div class=\"wide\"><table>\n");
    let class = |number: bool| if number { " class=\"number\"" } else { "" };
    if table.has_titles() {
        out.push_str("<thead><tr>");
        for (title, number) in &table.columns {
            let _ = write!(out, "<th{}>{}</th>", class(*number), prose(title));
        }
        out.push_str("</tr></thead>\n");
    }
    for row in &table.rows {
        out.push_str("<tr>");
        for (cell, (_, number)) in row.iter().zip(&table.columns) {
            let _ = write!(out, "<td{}>{}</td>", class(*number), self::cell(cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n");
    out
}

fn cell(cell: &Cell) -> String {
    let text = prose(&cell.text);
    let text = match cell.tone {
        Tone::Plain => text,
        Tone::Soft => format!("<span class=\"soft\">{text}</span>"),
        Tone::Good => format!("<span class=\"yes\">{text}</span>"),
        Tone::Bad => format!("<span class=\"no\">{text}</span>"),
    };
    match cell.more.as_str() {
        "" => text,
        more => format!("{text}<br><span class=\"soft\">{}</span>", prose(more)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_cannot_become_markup_and_the_page_needs_nothing_else() {
        let mut table = Table::new(&["name", "#count"]);
        table.rows.push(vec!["<b>&`x`".into(), "3".into()]);
        let document = Document {
            title: "<script>".into(),
            place: String::new(),
            blocks: vec![Block::Paragraph("a <i> `b`".into()), Block::Table(table)],
        };
        let page = page(&document);
        assert!(!page.contains("<script") && !page.contains("<i>"));
        assert!(
            page.contains("&lt;b&gt;&amp;<code>x</code>") && page.contains("<td class=\"number\">3</td>")
        );
        assert!(!page.contains("src=") && !page.contains("href=\"http"), "nothing is fetched");
    }
}
