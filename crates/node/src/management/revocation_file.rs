//! The file with records of revoked keys, as whoever adds to it sees it: records that lists bring which
//! somebody publishes. What reads the file is [`RevocationList`](super::RevocationList).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use packet::{Name, UnixTime};
use thiserror::Error;
use trust::Revocations;
use trust::files::{RevocationFileError, add_published_revocations, revocations_to_file};
use trust::whole_file::{Durability, Readers, Replacement, Writers};

use super::revocations::{RevocationListError, read};

/// How far the clock of a publisher may be ahead.
const MAX_AHEAD_MS: u64 = 600_000;

/// A file to which published records are added. None is ever taken away. When it was written last, as the
/// file system tells, is when the oldest of the lists was made that it has taken in: so whoever reads it
/// knows how old the news is.
#[derive(Debug)]
pub struct RevocationFile {
    path: PathBuf,
    /// When the latest of each list was made, as far as there was one.
    made: BTreeMap<Name, Option<UnixTime>>,
}

/// Why a list is not taken in.
#[derive(Debug, Error)]
pub enum TakeInError {
    /// Somebody shows an earlier list once more.
    #[error("it was made before the one that is known")]
    Earlier,
    /// The clock of the publisher, or the one here, is wrong.
    #[error("it is from the future: one of the clocks is wrong")]
    FromTheFuture,
    /// It holds something else.
    #[error(transparent)]
    List(#[from] RevocationFileError),
    /// The file cannot be read, and so it is not written either.
    #[error(transparent)]
    Known(#[from] RevocationListError),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

impl RevocationFile {
    /// The file at `path`, which is to hold what lists of these names say.
    pub fn new(path: &Path, lists: impl IntoIterator<Item = Name>) -> Self {
        RevocationFile { path: path.to_owned(), made: lists.into_iter().map(|name| (name, None)).collect() }
    }

    /// Adds what the list `name`, verified and made at that time, says. Gives the number of new records.
    ///
    /// # Errors
    /// The list is not to be believed, or the file cannot be read or written; nothing is changed then.
    pub fn take_in(
        &mut self,
        name: &Name,
        made: UnixTime,
        now: UnixTime,
        list: &[u8],
    ) -> Result<usize, TakeInError> {
        if self.made.get(name).copied().flatten().is_some_and(|known| made < known) {
            return Err(TakeInError::Earlier);
        }
        if made.as_millis() > now.as_millis().saturating_add(MAX_AHEAD_MS) {
            return Err(TakeInError::FromTheFuture);
        }
        let written = std::fs::metadata(&self.path).and_then(|metadata| metadata.modified());
        let (mut records, written) = match written {
            Ok(at) => (read(&self.path)?, Some(at)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Revocations::default(), None),
            Err(error) => return Err(error.into()),
        };
        let added = add_published_revocations(list, name.as_ref(), &mut records)?;
        let known = self.made.insert(name.clone(), Some(made));
        let at = self.time_of_news(written.unwrap_or(UNIX_EPOCH), now);
        let noted = if added > 0 || written.is_none() {
            // Who reads it meanwhile must not find an old list in a file that looks new.
            let bytes = revocations_to_file(&records);
            FILE.write_by(&self.path, |file| file.write_all(&bytes).and_then(|()| file.set_modified(at)))
        } else {
            File::options().write(true).open(&self.path).and_then(|file| file.set_modified(at))
        };
        if let Err(error) = noted {
            match known {
                Some(known) => self.made.insert(name.clone(), known),
                None => self.made.remove(name),
            };
            return Err(error.into());
        }
        Ok(added)
    }

    /// What the file is to say of how old the oldest list is; `written` is what it said of that before. What
    /// an operator has written later counts as news, too.
    fn time_of_news(&self, written: SystemTime, now: UnixTime) -> SystemTime {
        let oldest = self.made.values().copied().min().flatten();
        let oldest =
            oldest.map(|made| UNIX_EPOCH + Duration::from_millis(made.as_millis().min(now.as_millis())));
        oldest.map_or(written, |oldest| oldest.max(written))
    }
}

const FILE: Replacement =
    Replacement { readers: Readers::Usual, writers: Writers::One, durability: Durability::PowerCut };

#[cfg(test)]
mod tests {
    use packet::Component;
    use testkit::folder::TestFolder;
    use trust::certificate::{names, self_signed};
    use trust::{KeyKind, PrivateKey, Revocation, RevocationReason, Signer, ValidityPeriod};

    use super::*;

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    /// A list that revokes the key of an identity.
    fn list(identity: &str) -> Vec<u8> {
        let key = PrivateKey::generate(KeyKind::Ed25519).unwrap();
        let key_name = names::key_name(&name(identity), Component::generic(b"1")).unwrap();
        let always = ValidityPeriod { not_before: UnixTime::from_secs(0), not_after: UnixTime::END };
        let own = self_signed(&key, &key_name, names::SELF, UnixTime::from_secs(1), always).unwrap();
        let signer = Signer::new(key, key_name);
        let reason = RevocationReason::KeyCompromise;
        let record = Revocation::issue(&own, &signer, UnixTime::from_secs(1), reason).unwrap();
        record.data().wire().to_vec()
    }

    fn seconds(path: &Path) -> u64 {
        let at = std::fs::metadata(path).unwrap().modified().unwrap();
        at.duration_since(UNIX_EPOCH).unwrap().as_secs()
    }

    #[test]
    fn a_file_is_as_old_as_the_oldest_list_and_never_grows_older_nor_loses_a_record() {
        let folder = TestFolder::new("revocation-file");
        let path = folder.join("revoked");
        let (lab, hub) = (name("/lab/REVOKED"), name("/hub/REVOKED"));
        let mut file = RevocationFile::new(&path, [lab.clone(), hub.clone()]);
        let now = UnixTime::from_secs(1_700_000_000);
        let at = |back: u64| UnixTime::from_secs(1_700_000_000 - back);
        let alice = list("/lab/alice");
        assert_eq!(file.take_in(&lab, at(100), now, &alice).unwrap(), 1);
        assert_eq!(seconds(&path), 0, "nothing has come of the other list");
        assert_eq!(file.take_in(&hub, at(50), now, b"").unwrap(), 0);
        assert_eq!(seconds(&path), at(100).as_secs());
        assert!(matches!(file.take_in(&lab, at(101), now, b""), Err(TakeInError::Earlier)));
        let ahead = UnixTime::from_secs(now.as_secs() + 601);
        assert!(matches!(file.take_in(&lab, ahead, now, b""), Err(TakeInError::FromTheFuture)));
        assert_eq!(file.take_in(&lab, at(20), now, &list("/hub/bob")).unwrap(), 0, "not for /lab to say");
        assert_eq!(seconds(&path), at(50).as_secs());
        assert_eq!(read(&path).unwrap().count(), 1, "what the first list said stays");
        // Another process, which knows nothing of all this, is shown an old list.
        let mut again = RevocationFile::new(&path, [lab.clone()]);
        assert_eq!(again.take_in(&lab, at(90), now, &alice).unwrap(), 0);
        assert_eq!(seconds(&path), at(50).as_secs());
    }

    #[test]
    fn a_file_that_is_spoiled_stays_as_it_is() {
        let folder = TestFolder::new("spoiled-revocations");
        let path = folder.join("revoked");
        std::fs::write(&path, b"spoiled").unwrap();
        let lab = name("/lab/REVOKED");
        let mut file = RevocationFile::new(&path, [lab.clone()]);
        let now = UnixTime::from_secs(1_700_000_000);
        assert!(matches!(file.take_in(&lab, now, now, &list("/lab/a")), Err(TakeInError::Known(_))));
        assert_eq!(std::fs::read(&path).unwrap(), b"spoiled");
    }
}
