//! Numbers with units, as people write them: `"100 Mbit/s"`, `"5 ms"`, `"10 Mbit"`, `"25 %"`.

use std::fmt;
use std::str::FromStr;

use packet::units::{FREQUENCY, Quantity, RATE, SHARE, SIZE, SPAN, UnitError};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use super::reference::describe::Described;

macro_rules! quantity {
    ($(#[doc = $about:literal])* $name:ident, $type:ty, $quantity:expr, $cast:expr) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(pub $type);

        impl FromStr for $name {
            type Err = UnitError;

            fn from_str(text: &str) -> Result<Self, UnitError> {
                let cast: fn(f64) -> $type = $cast;
                $quantity.read(text).map(|value| $name(cast(value)))
            }
        }

        impl fmt::Display for $name {
            /// So that it reads back as itself.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&$quantity.show_exact(self.0 as f64))
            }
        }

        impl Described for $name {
            fn kind() -> String {
                let Quantity { what, example, .. } = $quantity;
                format!("{what}, such as `\"{example}\"`")
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;
                impl Visitor<'_> for Reader {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        let Quantity { what, example, .. } = $quantity;
                        write!(f, "{what}, such as \"{example}\"")
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }

                    fn visit_f64<E: de::Error>(self, value: f64) -> Result<$name, E> {
                        let example = $quantity.example;
                        let problem = "is a bare number, without a unit; write for example";
                        Err(E::custom(format!("`{value}` {problem} \"{example}\"")))
                    }

                    fn visit_i64<E: de::Error>(self, value: i64) -> Result<$name, E> {
                        self.visit_f64(value as f64)
                    }
                }
                deserializer.deserialize_any(Reader)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

quantity!(
    /// A span of time in nanoseconds.
    Span, u64, SPAN, whole
);
quantity!(
    /// A number of bytes.
    Size, u64, SIZE, whole
);
quantity!(
    /// Bits in a second.
    Rate, u64, RATE, whole
);
quantity!(
    /// Events in a second.
    Frequency, f64, FREQUENCY, |value| value
);
quantity!(
    /// A part of a whole, 0 to 1 (or above, where it counts processor cores).
    Share, f64, SHARE, |value| value
);

impl Span {
    /// In seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// As protocol code and virtual time take it.
    #[must_use]
    pub fn duration(self) -> packet::time::Duration {
        packet::time::Duration::from_nanos(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_is_understood() {
        assert_eq!("5 ms".parse(), Ok(Span(5_000_000)));
        assert_eq!("1.5s".parse(), Ok(Span(1_500_000_000)));
        assert_eq!("10 Mbit".parse(), Ok(Size(1_250_000)));
        assert_eq!("1_281_250 B".parse(), Ok(Size(1_281_250)));
        assert_eq!("100 Mbit/s".parse(), Ok(Rate(100_000_000)));
        assert_eq!("2/s".parse(), Ok(Frequency(2.0)));
        assert_eq!("25 %".parse(), Ok(Share(0.25)));
    }

    #[test]
    fn a_missing_or_wrong_unit_is_refused_with_the_units_there_are() {
        let error = "100 Mpps".parse::<Rate>().unwrap_err().to_string();
        assert!(error.contains("bit/s") && error.contains("100 Mpps"), "{error}");
        assert!("100".parse::<Span>().is_err());
        assert!("-5 ms".parse::<Span>().is_err());
        assert!("0.1".parse::<Share>().is_err(), "a tenth, or a tenth of a percent?");
        assert!("".parse::<Size>().is_err());
    }

    #[test]
    fn a_written_quantity_reads_back_as_itself() {
        for span in [Span(0), Span(1), Span(1_500), Span(20_000_000), Span(61_000_000_000)] {
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
        }
        for rate in [Rate(8), Rate(1_544_000), Rate(2_500_000_000)] {
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
        }
        assert_eq!(Share(0.255).to_string().parse(), Ok(Share(0.255)));
    }
}
