//! `cairn bench forward`.

use std::io;
use std::time::Duration;

use clap::ValueEnum as _;
use indicatif::ProgressBar;
use packet::Dialect;

use super::cable::Cable;
use super::contest::{Load, Transport};
use super::process::Processors;
use super::subjects::{Stage, Subject, find_ndnd};
use super::workbench::{Bench, BenchError, Row, shape};
use super::{ForwardArguments, Part, own_folder};

/// What was measured, until the end or until something failed.
pub(super) fn run(arguments: &ForwardArguments) -> (Vec<Row>, Result<(), BenchError>) {
    let mut bench = match Bench::prepare(arguments) {
        Ok(bench) => bench,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let outcome = bench.measure();
    bench.progress.finish_and_clear();
    let _ = std::fs::remove_dir_all(&bench.stage.directory);
    (bench.rows, outcome)
}

impl<'a> Bench<'a> {
    fn prepare(arguments: &'a ForwardArguments) -> Result<Self, BenchError> {
        let anywhere = Processors::anywhere()?;
        let apart = match arguments.cpus[..] {
            [forwarder, load] => Processors::apart(forwarder, load),
            _ => Processors::apart(0, 1),
        };
        let prefix = shape(arguments, Dialect::Ndn, 0).prefix().map_err(io::Error::other)?.to_string();
        let dialect = Dialect::Ndn;
        let stage =
            Stage { directory: own_folder()?, processors: apart.clone(), prefix, namespace: None, dialect };
        let progress = ProgressBar::new_spinner();
        progress.enable_steady_tick(Duration::from_millis(250));
        Ok(Bench { arguments, stage, anywhere, apart, rows: Vec::new(), progress })
    }

    fn measure(&mut self) -> Result<(), BenchError> {
        let mut subjects = vec![Subject::Relay, Subject::Cairn];
        if !self.arguments.no_ndnd {
            subjects.extend(self.arguments.ndnd.clone().or_else(find_ndnd).map(Subject::Ndnd));
        }
        subjects.extend(self.arguments.command.clone().map(Subject::Command));
        for part in Part::value_variants() {
            if self.arguments.only.is_empty() || self.arguments.only.contains(part) {
                self.measure_part(*part, &subjects)?;
            }
        }
        Ok(())
    }

    fn measure_part(&mut self, part: Part, subjects: &[Subject]) -> Result<(), BenchError> {
        let anywhere = matches!(part, Part::Latency | Part::LatencyRow | Part::CcnxLatencyRow);
        let processors = if anywhere { &self.anywhere } else { &self.apart };
        self.stage.processors = processors.clone();
        self.stage.dialect = part.dialect();
        self.stage.processors.enter_load()?;
        let window = self.arguments.window;
        let kilobyte = Load { payload_bytes: 1000, window, catalogue: 0 };
        match part {
            Part::Udp => self.contest(part, subjects, Transport::Udp, kilobyte),
            Part::UdpOne => self.contest(part, subjects, Transport::Udp, Load { window: 1, ..kilobyte }),
            Part::UdpSixteen => self.contest(part, subjects, Transport::Udp, Load { window: 16, ..kilobyte }),
            Part::UnixOne => self.contest(part, subjects, Transport::Unix, Load { window: 1, ..kilobyte }),
            Part::UnixSixteen => {
                self.contest(part, subjects, Transport::Unix, Load { window: 16, ..kilobyte })
            }
            Part::UdpLarge => {
                let load = Load { payload_bytes: 8000, window: window.min(128), catalogue: 0 };
                self.contest(part, subjects, Transport::Udp, load)
            }
            Part::UdpCached => {
                let load = Load { catalogue: 512, ..kilobyte };
                self.contest(part, &with_tables(subjects), Transport::Udp, load)
            }
            Part::UdpVeth => match Cable::plug() {
                Some(cable) => {
                    self.stage.namespace = Some(cable.namespace.clone());
                    let outcome = self.contest(part, subjects, Transport::Udp, kilobyte);
                    self.stage.namespace = None;
                    outcome
                }
                None => {
                    tell!("cairn: no measurement over veth: making network namespaces needs root, and ip");
                    Ok(())
                }
            },
            Part::Tcp => self.contest(part, subjects, Transport::Tcp, kilobyte),
            Part::Unix => self.contest(part, subjects, Transport::Unix, kilobyte),
            Part::Latency | Part::LatencyApart => {
                self.each(part, subjects, |bench, subject| bench.latency(part, subject))
            }
            Part::LatencyRow | Part::CcnxLatencyRow => {
                let subjects = in_dialect(part, subjects);
                self.each(part, &subjects, |bench, subject| bench.latency_in_a_row(part, subject))
            }
            Part::CcnxUdp => self.contest(part, &in_dialect(part, subjects), Transport::Udp, kilobyte),
            Part::CcnxUdpOne => {
                let load = Load { window: 1, ..kilobyte };
                self.contest(part, &in_dialect(part, subjects), Transport::Udp, load)
            }
            Part::CcnxUdpSixteen => {
                let load = Load { window: 16, ..kilobyte };
                self.contest(part, &in_dialect(part, subjects), Transport::Udp, load)
            }
            Part::CcnxCached => {
                let load = Load { payload_bytes: 4096, window: window.min(256), catalogue: 512 };
                self.contest(part, &with_tables(&in_dialect(part, subjects)), Transport::Udp, load)
            }
            Part::Pending => self.each(part, &with_tables(subjects), Self::pending),
            Part::Start => self.each(part, &with_tables(subjects), Self::start),
        }
    }

    /// Measures one subject after the other.
    fn each(
        &mut self,
        part: Part,
        subjects: &[Subject],
        measure: impl Fn(&mut Self, &Subject) -> Result<(), BenchError>,
    ) -> Result<(), BenchError> {
        for subject in subjects {
            self.progress.set_message(format!("{}: {}", part.title(), subject.name()));
            match measure(self, subject) {
                Err(BenchError::Silent { seconds, .. }) => self.note_silent(part, subject, seconds as f64),
                outcome => outcome?,
            }
        }
        Ok(())
    }
}

/// Those that have a cache and a table of pending Interests.
fn with_tables(subjects: &[Subject]) -> Vec<Subject> {
    subjects.iter().filter(|subject| !matches!(subject, Subject::Relay)).cloned().collect()
}

/// Those that speak a part's dialect; of a command we do not know.
fn in_dialect(part: Part, subjects: &[Subject]) -> Vec<Subject> {
    let speaks = |subject: &&Subject| part.dialect() == Dialect::Ndn || !matches!(subject, Subject::Ndnd(_));
    subjects.iter().filter(speaks).cloned().collect()
}
