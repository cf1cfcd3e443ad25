//! Memory of objects that are one packet each.

use std::sync::Arc;

use packet::NameHasher;
use packet::ndn::DataBuilder;
use repo::disk::SimulatedDisk;
use repo::{Store, StoreConfig, StoreKeys};
use system::unix_now;

use super::{Bound, Row};
use crate::tool::ToolError;

const OBJECTS: u64 = 50_000;
const AT_ONCE: u64 = 5_000;

pub(super) fn measure(rows: &mut Vec<Row>) -> Result<(), ToolError> {
    let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
    let disk = Arc::new(SimulatedDisk::new(1));
    let (mut store, _) = Store::open(disk, StoreConfig::default(), keys).map_err(ToolError::other)?;
    for object in 0..OBJECTS {
        let name = format!("/lab/sensors/{object}/v=1").parse().map_err(ToolError::other)?;
        let data = DataBuilder::new(name).content(object.to_le_bytes().to_vec()).build_with_digest()?;
        store.insert(unix_now(), &data).map_err(ToolError::other)?;
        if object % AT_ONCE == AT_ONCE - 1 {
            store.commit().map_err(ToolError::other)?;
        }
    }
    let stats = store.stats();
    let bytes = stats.memory_bytes as f64 / stats.objects.max(1) as f64;
    rows.push(Row::new("memory of an object of one packet", bytes, "B", Bound::AtMost(400.0)));
    Ok(())
}
