//! What a report says, before it is a page or a sheet of paper: one text for both.
//!
//! Tables are words here, with what is read second and how it is meant; those of a study, which are numbers
//! that are still to be judged, are in `study/report.rs`.

use crate::figure::{Data, Drawing};

/// How something is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// Read second.
    Soft,
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
}

/// A place in a table.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    /// Below the text, and read second.
    pub(crate) more: String,
    pub(crate) tone: Tone,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    pub(crate) fn with(self, more: impl Into<String>) -> Self {
        Cell { more: more.into(), ..self }
    }

    pub(crate) fn toned(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::new(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::new(text)
    }
}

/// A table. Numbers stand at the right of their columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    /// Titles of columns, and whether there are numbers below. Without titles there is no row of titles.
    pub(crate) columns: Vec<(String, bool)>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Columns by title; one that begins with `#` holds numbers.
    pub(crate) fn new(columns: &[&str]) -> Self {
        let column = |title: &&str| match title.strip_prefix('#') {
            Some(title) => (title.to_owned(), true),
            None => ((*title).to_owned(), false),
        };
        Table { columns: columns.iter().map(column).collect(), rows: Vec::new() }
    }

    pub(crate) fn has_titles(&self) -> bool {
        self.columns.iter().any(|(title, _)| !title.is_empty())
    }
}

/// A drawing with what is said about it and the numbers behind it.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    /// The name of its files.
    pub(crate) name: String,
    pub(crate) drawing: Drawing,
    pub(crate) caption: String,
    pub(crate) data: Option<Data>,
}

/// A part of a document. Words between backticks are code.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    /// A chapter, and the name it is linked by.
    Chapter {
        title: String,
        anchor: String,
    },
    /// A part of a chapter.
    Heading(String),
    Paragraph(String),
    /// Read second.
    Remark(String),
    /// What must not be overlooked.
    Warning(String),
    /// The most important numbers, each with its name.
    Facts(Vec<(String, String)>),
    Table(Table),
    /// Small figures beside each other.
    Gallery(Vec<Figure>),
    /// A figure as wide as the page.
    Figure(Figure),
    /// Text as it is.
    Code(String),
    /// What a page shows when it is asked to, and paper always.
    Folded {
        title: String,
        blocks: Vec<Block>,
    },
}

/// A whole report.
#[derive(Debug, Clone, Default)]
pub(crate) struct Document {
    pub(crate) title: String,
    /// Above the title: where and when.
    pub(crate) place: String,
    pub(crate) blocks: Vec<Block>,
}

impl Document {
    /// Every figure, in order.
    pub(crate) fn figures(&self) -> Vec<&Figure> {
        let mut found = Vec::new();
        collect(&self.blocks, &mut found);
        found
    }

    /// The same with a number before each figure's caption, in their order. What an experiment has asked for,
    /// which is so many figures, keeps the numbers of its files.
    pub(crate) fn numbered(mut self, asked: usize) -> Self {
        let mut count = asked;
        number(&mut self.blocks, &mut count);
        self
    }

    /// Chapters: titles and anchors.
    pub(crate) fn chapters<'a>(&'a self) -> Vec<(&'a str, &'a str)> {
        let chapter = |block: &'a Block| match block {
            Block::Chapter { title, anchor } => Some((title.as_str(), anchor.as_str())),
            _ => None,
        };
        self.blocks.iter().filter_map(chapter).collect()
    }
}

fn number(blocks: &mut [Block], count: &mut usize) {
    for block in blocks {
        let figures = match block {
            Block::Figure(figure) => std::slice::from_mut(figure),
            Block::Gallery(figures) => figures.as_mut_slice(),
            Block::Folded { blocks, .. } => {
                number(blocks, count);
                continue;
            }
            _ => continue,
        };
        for figure in figures {
            let own = figure.name.strip_prefix("figure-").and_then(|number| number.parse::<usize>().ok());
            let number = own.unwrap_or_else(|| {
                *count += 1;
                *count
            });
            figure.caption = format!("Figure {number}. {}", figure.caption);
        }
    }
}

fn collect<'a>(blocks: &'a [Block], found: &mut Vec<&'a Figure>) {
    for block in blocks {
        match block {
            Block::Figure(figure) => found.push(figure),
            Block::Gallery(figures) => found.extend(figures),
            Block::Folded { blocks, .. } => collect(blocks, found),
            _ => {}
        }
    }
}
