//! Reads traces, a request at a time.

use std::hash::{DefaultHasher, Hasher};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::str::FromStr;

use packet::registry::UnknownWord;
use thiserror::Error;

use super::Entry;

/// Bytes of a line that are looked at; a longer line is refused.
pub const MAX_LINE: u64 = 64 * 1024;
const ORACLE_RECORD: usize = 24;
const NANOS: u64 = 1_000_000_000;

/// How a trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestTraceFormat {
    /// Fields apart by commas.
    Csv,
    /// Records of libCacheSim.
    OracleGeneral,
    /// Fields apart by tabs, the last but one being the size.
    Wiki,
    /// Fields apart by blanks: time, object, size.
    Cdn,
}

impl RequestTraceFormat {
    /// All, by their words.
    pub const ALL: [(&str, RequestTraceFormat); 4] = [
        ("csv", RequestTraceFormat::Csv),
        ("oracle-general", RequestTraceFormat::OracleGeneral),
        ("wiki", RequestTraceFormat::Wiki),
        ("cdn", RequestTraceFormat::Cdn),
    ];
}

impl FromStr for RequestTraceFormat {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        let found = RequestTraceFormat::ALL.iter().find(|(name, _)| *name == word);
        found
            .map(|(_, format)| *format)
            .ok_or_else(|| UnknownWord::new("format", word, RequestTraceFormat::ALL.map(|(word, _)| word)))
    }
}

/// Why a trace cannot be read on.
#[derive(Debug, Error)]
pub enum TraceError {
    /// A line or record is not what it should be.
    #[error("request {number}: {problem}")]
    Format {
        /// Which line or record, from 1 on.
        number: u64,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// It cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Requests of a trace, in its order. After an error there are none.
#[derive(Debug)]
pub struct TraceReader<R> {
    source: BufReader<R>,
    format: RequestTraceFormat,
    columns: Columns,
    number: u64,
    line: Vec<u8>,
    has_ended: bool,
}

/// Where a line has the object and its size.
#[derive(Clone, Copy, Debug)]
struct Columns {
    time: Option<usize>,
    object: usize,
    size: usize,
}

impl<R: Read> TraceReader<R> {
    /// Reads from here on.
    pub fn new(source: R, format: RequestTraceFormat) -> Self {
        TraceReader {
            source: BufReader::with_capacity(1 << 16, source),
            format,
            columns: Columns { time: Some(0), object: 1, size: 2 },
            number: 0,
            line: Vec::new(),
            has_ended: false,
        }
    }

    fn record(&mut self) -> Result<Option<Entry>, TraceError> {
        let mut record = [0; ORACLE_RECORD];
        match self.source.fill_buf() {
            Ok([]) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        self.number += 1;
        self.source.read_exact(&mut record).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => self.wrong("the last record is cut short"),
            _ => error.into(),
        })?;
        let bytes = |from: usize, to: usize| record.get(from..to).unwrap_or_default();
        let object = bytes(4, 12).try_into().map_or(0, u64::from_le_bytes);
        let size = bytes(12, 16).try_into().map_or(0, u32::from_le_bytes);
        let time = bytes(0, 4).try_into().map_or(0, u32::from_le_bytes);
        let time_ns = Some(u64::from(time) * NANOS);
        Ok(Some(Entry { time_ns, object, bytes: size.into() }))
    }

    /// The next line that has a request, without its end.
    fn line(&mut self) -> Result<Option<Entry>, TraceError> {
        loop {
            self.line.clear();
            let read = (&mut self.source).take(MAX_LINE).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.line.last() != Some(&b'\n') && read as u64 == MAX_LINE {
                return Err(self.wrong("the line is too long"));
            }
            let line = self.line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let (format, columns) = (self.format, self.columns);
            match entry(line, format, columns) {
                Ok(entry) => return Ok(Some(entry)),
                // What stands above the first request names the columns.
                Err(_)
                    if self.number == 1
                        && let Some(columns) = header(line, format) =>
                {
                    self.columns = columns;
                }
                Err(problem) => return Err(self.wrong(problem)),
            }
        }
    }

    fn wrong(&self, problem: &'static str) -> TraceError {
        TraceError::Format { number: self.number, problem }
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let next = match self.format {
            RequestTraceFormat::OracleGeneral => self.record(),
            _ => self.line(),
        };
        self.has_ended = !matches!(next, Ok(Some(_)));
        next.transpose()
    }
}

/// The fields of a line.
fn fields(line: &[u8], format: RequestTraceFormat) -> impl Iterator<Item = &[u8]> {
    let is_end = move |byte: &u8| match format {
        RequestTraceFormat::Csv => *byte == b',',
        RequestTraceFormat::Wiki => *byte == b'\t',
        _ => byte.is_ascii_whitespace(),
    };
    // Blanks may be several; what is between two commas may be nothing.
    let all = line.split(is_end).map(|field| field.trim_ascii());
    all.filter(move |field| format != RequestTraceFormat::Cdn || !field.is_empty())
}

/// The request in a line.
fn entry(line: &[u8], format: RequestTraceFormat, columns: Columns) -> Result<Entry, &'static str> {
    let size = match format {
        RequestTraceFormat::Wiki => fields(line, format).count().checked_sub(2),
        _ => Some(columns.size),
    };
    let size =
        size.filter(|size| *size > 1 || format == RequestTraceFormat::Csv).ok_or("has too few fields")?;
    let object = fields(line, format).nth(columns.object).ok_or("has too few fields")?;
    let bytes = fields(line, format).nth(size).ok_or("has too few fields")?;
    let bytes = std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok());
    let bytes = bytes.ok_or("its size is no whole number of bytes")?;
    let time = columns.time.and_then(|place| fields(line, format).nth(place));
    Ok(Entry { time_ns: time.and_then(nanos), object: identity(object), bytes })
}

/// Seconds as nanoseconds, to the last digit: a number of floating point is too coarse for times since 1970.
fn nanos(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = fraction.get(..fraction.len().min(9))?;
    if !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = 10u64.pow(9 - u32::try_from(digits.len()).ok()?);
    let below = if digits.is_empty() { 0 } else { digits.parse::<u64>().ok()? * scale };
    whole.parse::<u64>().ok()?.checked_mul(NANOS)?.checked_add(below)
}

/// The columns that a header names.
fn header(line: &[u8], format: RequestTraceFormat) -> Option<Columns> {
    let place = |names: &[&str]| {
        fields(line, format)
            .position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name.as_bytes())))
    };
    match format {
        RequestTraceFormat::Csv => Some(Columns {
            time: place(&["time", "timestamp", "ts"]),
            object: place(&["obj_id", "object", "key", "name"])?,
            size: place(&["obj_size", "size", "bytes"])?,
        }),
        // Its columns are where they are.
        RequestTraceFormat::Wiki => {
            place(&["response_size"]).map(|_| Columns { time: Some(0), object: 1, size: 0 })
        }
        _ => None,
    }
}

/// A number stands for itself, all else for its hash. A trace is its reader's own choice: who makes two of
/// its names one deceives nobody else.
fn identity(object: &[u8]) -> u64 {
    if let Some(number) = std::str::from_utf8(object).ok().and_then(|text| text.parse().ok()) {
        return number;
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(object);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], format: RequestTraceFormat) -> (Vec<(u64, u64)>, Option<String>) {
        let (mut entries, mut error) = (Vec::new(), None);
        for entry in TraceReader::new(bytes, format) {
            match entry {
                Ok(entry) => entries.push((entry.object, entry.bytes)),
                Err(problem) => error = Some(problem.to_string()),
            }
        }
        (entries, error)
    }

    #[test]
    fn each_format_gives_its_objects_and_sizes() {
        let expected = (vec![(7, 100), (9, 2), (7, 100)], None);
        assert_eq!(read(b"1,7,100\n2,9,2\n# more\n\n3,7,100", RequestTraceFormat::Csv), expected);
        let named = b"size,time,tenant,OBJ_ID\r\n100,1,x,7\r\n2,2,y,9\r\n100,3,x,7\r\n";
        assert_eq!(read(named, RequestTraceFormat::Csv), expected);
        assert_eq!(read(b"1 7 100\n2  9 2 17 0.5\n3 7 100\n", RequestTraceFormat::Cdn), expected);
        let wiki = b"relative_unix\thashed_path_query\timage_type\tresponse_size\ttime_firstbyte\n\
            1\t7\tjpeg\t100\t0.1\n2\t9\t\t2\t0.2\n3\t7\tjpeg\t100\t0.01\n";
        assert_eq!(read(wiki, RequestTraceFormat::Wiki), expected);
        assert_eq!(read(b"1\t7\t100\t0.1\n2\t9\t2\t0\n3\t7\t100\t1\n", RequestTraceFormat::Wiki), expected);
        let mut records = Vec::new();
        for (time, object, size) in [(1u32, 7u64, 100u32), (2, 9, 2), (3, 7, 100)] {
            records.extend(time.to_le_bytes());
            records.extend(object.to_le_bytes());
            records.extend(size.to_le_bytes());
            records.extend((-1i64).to_le_bytes());
        }
        assert_eq!(read(&records, RequestTraceFormat::OracleGeneral), expected);
        assert_eq!(
            read(&records[..70], RequestTraceFormat::OracleGeneral).1.as_deref(),
            Some("request 3: the last record is cut short")
        );
    }

    #[test]
    fn times_are_read_to_the_nanosecond_where_there_are_any() {
        let times = |bytes: &[u8], format| -> Vec<Option<u64>> {
            TraceReader::new(bytes, format).map(|entry| entry.unwrap().time_ns).collect()
        };
        let text = b"1700000000.123456789,7,5\n2,7,5\n0.5,7,5\nnever,7,5\n-1,7,5\n";
        let expected = [Some(1_700_000_000_123_456_789), Some(2_000_000_000), Some(500_000_000), None, None];
        assert_eq!(times(text, RequestTraceFormat::Csv), expected);
        assert_eq!(times(b"size,ts,key\n5,3,7\n", RequestTraceFormat::Csv), [Some(3_000_000_000)]);
        assert_eq!(times(b"size,key\n5,7\n", RequestTraceFormat::Csv), [None]);
        assert_eq!(times(b"4 7 100\n", RequestTraceFormat::Cdn), [Some(4_000_000_000)]);
        let mut record = 9u32.to_le_bytes().to_vec();
        record.extend([1; 20]);
        assert_eq!(times(&record, RequestTraceFormat::OracleGeneral), [Some(9_000_000_000)]);
    }

    #[test]
    fn names_that_are_no_numbers_are_told_apart() {
        let (entries, error) = read(b"1,/a,5\n2,/b,5\n3,/a,5\n", RequestTraceFormat::Csv);
        assert!(error.is_none() && entries[0] == entries[2] && entries[0] != entries[1]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line_and_ends_the_trace() {
        let problem = |bytes: &[u8], format| {
            let (entries, error) = read(bytes, format);
            (entries.len(), error.unwrap_or_default())
        };
        let size = "request 2: its size is no whole number of bytes".to_owned();
        assert_eq!(problem(b"1,7,100\n2,9,-2\n3,7,100\n", RequestTraceFormat::Csv), (1, size));
        assert_eq!(
            problem(b"a,b\n", RequestTraceFormat::Csv),
            (0, "request 1: has too few fields".to_owned())
        );
        assert_eq!(
            problem(b"1 7\n", RequestTraceFormat::Cdn),
            (0, "request 1: has too few fields".to_owned())
        );
        assert_eq!(
            problem(b"1\t7\t5\n", RequestTraceFormat::Wiki),
            (0, "request 1: has too few fields".to_owned())
        );
        let long = vec![b'7'; MAX_LINE as usize + 5];
        assert_eq!(
            problem(&long, RequestTraceFormat::Csv),
            (0, "request 1: the line is too long".to_owned())
        );
    }
}
