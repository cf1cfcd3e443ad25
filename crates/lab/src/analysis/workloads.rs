//! What clients wrote down: transfers, round trips, floods.

use std::io::{self, Read};

use formats::csv;

use super::table::Table;
use super::window::Window;
use crate::agent::OPEN;
use crate::stats::Counted;

/// One transfer, with times in seconds from the start.
#[derive(Debug, Clone, PartialEq)]
pub struct Transfer {
    /// Its number.
    pub number: u64,
    /// The file's name.
    pub name: String,
    /// When it began; nothing when it never did.
    pub start: Option<f64>,
    /// When it was complete; nothing when it was not.
    pub stop: Option<f64>,
    /// Bytes of content received.
    pub bytes: u64,
    /// Interests sent.
    pub sent: u64,
    /// Interests sent again.
    pub repeated: u64,
    /// Nacks received.
    pub nacks: u64,
    /// `complete`, `unfinished`, or `wrong` when bytes were not those of the producer.
    pub state: String,
}

/// All transfers of a workload.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TransferTable {
    /// In the order in which they ended.
    pub transfers: Vec<Transfer>,
}

impl TransferTable {
    /// Reads what a client wrote; `start_s` is the run's start in seconds since the epoch.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(input: impl Read, start_s: f64) -> io::Result<Self> {
        let mut transfers = Vec::new();
        for row in csv::Reader::new(input).skip(1) {
            let row = row?;
            let text = |index: usize| row.get(index).unwrap_or_default();
            let number = |index: usize| text(index).parse::<u64>().unwrap_or(0);
            let time = |index: usize| text(index).parse::<f64>().ok().map(|time| time - start_s);
            transfers.push(Transfer {
                number: number(0),
                name: text(1).to_owned(),
                start: time(2),
                stop: time(3),
                bytes: number(4),
                sent: number(6),
                repeated: number(7),
                nacks: number(9),
                state: text(10).to_owned(),
            });
        }
        Ok(TransferTable { transfers })
    }

    /// As a table of numbers, for people's own tools.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table =
            Table::new(&["no", "start", "stop", "bytes", "sent", "repeated", "nacks", "complete"]);
        for transfer in &self.transfers {
            table.rows.push(vec![
                transfer.number as f64,
                transfer.start.unwrap_or(f64::NAN),
                transfer.stop.unwrap_or(f64::NAN),
                transfer.bytes as f64,
                transfer.sent as f64,
                transfer.repeated as f64,
                transfer.nacks as f64,
                f64::from(u8::from(transfer.state == "complete")),
            ]);
        }
        table
    }

    /// How many are complete.
    #[must_use]
    pub fn complete(&self) -> usize {
        self.transfers.iter().filter(|transfer| transfer.state == "complete").count()
    }

    /// How long each complete one took, in seconds.
    #[must_use]
    pub fn durations(&self) -> Vec<f64> {
        let complete = self.transfers.iter().filter(|transfer| transfer.state == "complete");
        complete.filter_map(|transfer| Some(transfer.stop? - transfer.start?)).collect()
    }

    /// Those that began in the window; of a window that holds all, also those that never began.
    #[must_use]
    pub fn within(&self, window: Window) -> Self {
        let counts =
            |transfer: &&Transfer| transfer.start.map_or(window.holds_all, |start| window.holds(start));
        TransferTable { transfers: self.transfers.iter().filter(counts).cloned().collect() }
    }

    /// Bytes of complete transfers a second, between the first start and the last stop, or the run's end when
    /// transfers are open.
    #[must_use]
    pub fn goodput(&self, end: f64) -> f64 {
        let first = self.transfers.iter().filter_map(|transfer| transfer.start).fold(f64::INFINITY, f64::min);
        let open = self.transfers.iter().any(|transfer| transfer.stop.is_none());
        let last = self.transfers.iter().filter_map(|transfer| transfer.stop).fold(0.0, f64::max);
        let complete = self.transfers.iter().filter(|transfer| transfer.state == "complete");
        let bytes: u64 = complete.map(|transfer| transfer.bytes).sum();
        let span = if open { end } else { last } - first;
        if span > 0.0 { bytes as f64 / span } else { 0.0 }
    }
}

/// Round trips of a ping or a traffic source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PingTable {
    /// When each was sent, from the start, and its round trip in milliseconds; nothing when no answer came.
    pub pings: Vec<(f64, Option<f64>)>,
    /// When those were sent that could still have been answered when the run ended.
    pub open: Vec<f64>,
    /// How many came back as Nacks.
    pub nacks: u64,
}

impl PingTable {
    /// Reads what a client wrote.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(input: impl Read, start_s: f64) -> io::Result<Self> {
        let mut table = PingTable::default();
        for row in csv::Reader::new(input).skip(1) {
            let row = row?;
            let mut fields = row.iter().skip(1);
            let Some(time) = fields.next().and_then(|field| field.parse::<f64>().ok()) else { continue };
            let round_trip = fields.next().and_then(|field| field.parse().ok());
            let end = fields.next().unwrap_or_default();
            if end == OPEN {
                table.open.push(time - start_s);
                continue;
            }
            table.nacks += u64::from(!end.is_empty());
            table.pings.push((time - start_s, round_trip));
        }
        table.pings.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(table)
    }

    /// Those that were sent in the window. Nacks are counted as a whole.
    #[must_use]
    pub fn within(&self, window: Window) -> Self {
        let pings = self.pings.iter().filter(|(at, _)| window.holds(*at)).copied().collect();
        let open = self.open.iter().filter(|at| window.holds(**at)).copied().collect();
        PingTable { pings, open, nacks: self.nacks }
    }

    /// How many were sent.
    #[must_use]
    pub fn sent(&self) -> usize {
        self.pings.len() + self.open.len()
    }

    /// How many nothing answered, of those sent before `until`: of later ones an answer that takes long is
    /// not seen, so that those that were answered are no fair choice.
    pub(super) fn lost(&self, until: f64) -> Counted {
        let decided = self.pings.iter().filter(|(at, _)| *at <= until);
        decided.fold(Counted::default(), |sum, (_, round_trip)| Counted {
            part: sum.part + u64::from(round_trip.is_none()),
            whole: sum.whole + 1,
        })
    }

    /// The round trips of those that were answered.
    #[must_use]
    pub fn round_trips(&self) -> Vec<f64> {
        self.pings.iter().filter_map(|(_, round_trip)| *round_trip).collect()
    }
}

/// What a flood sent, by the second: time, sent, refreshed, nacks, data, behind_ms.
pub type FloodTable = Table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_what_would_end_a_field() {
        let name = "/f/\"a\", b\nc";
        let head = crate::agent::TRANSFERS_HEAD;
        let row = ["0", name, "11.0", "13.0", "4000", "1", "1", "0", "0", "0", "complete"];
        let text = csv::to_string([head, row]);
        let table = TransferTable::read(text.as_bytes(), 10.0).unwrap();
        assert_eq!((table.transfers[0].name.as_str(), table.complete()), (name, 1));
    }

    #[test]
    fn what_was_open_at_the_end_is_neither_answered_nor_lost_and_no_later_one_tells_of_loss() {
        let rows = "no,time,round_trip_ms,nack\n0,11.0,5.0,\n1,12.0,,\n3,15.5,5.0,\n2,15.0,,open\n4,12.5,,no-route\n";
        let table = PingTable::read(rows.as_bytes(), 10.0).unwrap();
        assert_eq!((table.sent(), table.round_trips().len(), table.nacks), (5, 2, 1));
        assert_eq!(table.open, [5.0]);
        // The run ended after 6 s, and an Interest lives for 2 s: that of 5.5 s was answered by luck.
        let lost = |until| {
            let Counted { part, whole } = table.lost(until);
            (part, whole)
        };
        assert_eq!((lost(4.0), lost(0.5), lost(f64::INFINITY)), ((2, 3), (0, 0), (2, 4)));
        let part = table.within(Window { from: 2.2, until: 5.2, holds_all: false, holds_end: false });
        assert_eq!((part.sent(), part.lost(4.0)), (2, Counted { part: 1, whole: 1 }));
    }

    #[test]
    fn bytes_of_transfers_that_were_not_finished_are_no_goodput() {
        let lines = "no,name,start,stop,bytes,segments,sent,repeated,timeouts,nacks,state\n\
                     0,/f/0,11.0,13.0,4000,1,1,0,0,0,complete\n1,/f/1,11.5,,90000,9,9,0,0,0,unfinished\n";
        let table = TransferTable::read(lines.as_bytes(), 10.0).unwrap();
        assert_eq!(table.goodput(5.0), 1000.0, "4,000 bytes from 1 s to the end at 5 s");
        let late = Window { from: 1.2, until: 5.0, holds_all: false, holds_end: false };
        assert_eq!(table.within(late).transfers.len(), 1);
    }

    #[test]
    fn a_transfer_that_never_began_is_of_the_whole_run_and_of_no_part_of_it() {
        let lines = "no,name,start,stop,bytes,segments,sent,repeated,timeouts,nacks,state\n\
                     0,/f/0,11.0,12.0,4000,1,1,0,0,0,complete\n1,/f/1,12.0,13.0,4000,1,1,0,0,0,complete\n\
                     2,/f/2,,,0,0,0,0,0,0,unfinished\n";
        let table = TransferTable::read(lines.as_bytes(), 10.0).unwrap();
        let of = |window| table.within(window).transfers.len();
        let part = Window { from: 1.5, until: 4.0, holds_all: false, holds_end: false };
        assert_eq!(
            (of(part), of(Window { from: 0.0, until: 5.0, holds_all: true, holds_end: true })),
            (1, 3)
        );
        assert_eq!(table.within(part).goodput(5.0), 4000.0, "the link was not used half");
    }
}
