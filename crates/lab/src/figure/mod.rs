//! Figures: line charts, bars, boxes and spans, drawn from data and nothing else, for screens and for paper.
//!
//! Every axis has a name and a unit, every line a label at its end, colours can be told apart by eyes that
//! see few of them. A chart becomes a [`Drawing`], and a drawing becomes SVG that suits a light and a dark
//! page, or a part of a PDF. The numbers behind a figure are [`Data`], which becomes CSV and Parquet.
//!
//! ```
//! use cairn_lab::figure::{Axis, LineChart, Series};
//! let chart = LineChart {
//!     title: "Interest rate".into(),
//!     x: Axis::new("time", "s"),
//!     y: Axis::new("rate", "Interests/s").with_zero(),
//!     series: vec![Series { label: "fine clock".into(), points: vec![(0.0, 200.0), (2.4, 1000.0)] }],
//! };
//! let svg = chart.to_svg();
//! assert!(svg.starts_with("<svg") && svg.contains("rate (Interests/s)"));
//! ```

mod axis;
mod bars;
mod boxes;
mod data;
mod drawing;
pub(crate) mod font;
pub(crate) mod graph;
mod grid;
mod groups;
pub(crate) mod key;
mod layout;
mod line;
mod names;
pub(crate) mod number;
pub(crate) mod palette;
mod parquet;
mod plot;
mod spans;
pub(crate) mod svg;
pub(crate) mod text;
mod widest;

pub use axis::{Axis, Scale};
pub use bars::{BarChart, BarGroup};
pub use boxes::{BoxChart, BoxGroup, Quartiles};
pub use data::{Column, Data};
pub(crate) use drawing::Shape;
pub use drawing::{Anchor, Drawing, Point, Style};
pub use font::Weight;
pub use grid::{GridCell, GridChart, GridRow};
pub use line::{LineChart, Series};
pub use palette::Paint;
pub use plot::Frame;
pub use spans::{Span, SpanChart};

/// The room of a figure that stands alone.
pub(crate) const STANDARD: Frame = Frame::new(760.0, 400.0);
