//! Figures as SVG: line charts, bars and grids, drawn from data and nothing else.
//!
//! Every axis has a name and a unit, every line a label at its end, colours can be told apart by eyes that see few of them, and
//! the same file suits a light and a dark page.
//!
//! ```
//! use lab::figure::{Axis, LineChart, Series};
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
mod grid;
mod line;
mod svg;

pub use axis::{Axis, Scale};
pub use bars::{BarChart, BarGroup};
pub use grid::{GridCell, GridChart, GridRow};
pub use line::{LineChart, Series};

/// Width of all figures.
pub(crate) const WIDTH: f64 = 760.0;
/// Height of all figures but grids, which have as much as their rows need.
pub(crate) const HEIGHT: f64 = 400.0;
