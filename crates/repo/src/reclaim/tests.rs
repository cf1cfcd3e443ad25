use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::disk::{Disk, SimulatedDisk};
use packet::random::Random;

fn all(disk: &Arc<dyn Disk>) -> Vec<Box<dyn Reclaim>> {
    vec![
        Box::new(PunchHoles::new(disk).unwrap()),
        Box::new(CopyAndSwap::new(disk, ServiceDuringDeletion::ServeReadOnly, 1 << 20).unwrap()),
        Box::new(FilePerObject::new(disk)),
        Box::new(FilePerSegment::new(disk)),
        Box::new(PayloadDatabase::new(disk, 1 << 20).unwrap()),
    ]
}

fn wire(object: u64, segment: u32) -> Vec<u8> {
    vec![object as u8 ^ segment as u8; 300 + (object as usize * 7 + segment as usize * 13) % 500]
}

#[test]
fn all_layouts_hold_what_a_map_holds_and_serve_what_stays_while_they_delete() {
    for seed in 0..8 {
        let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new(seed));
        for mut layout in all(&disk) {
            let mut random = Random::from_seed(seed);
            let mut model = BTreeMap::new();
            for round in 0..4 {
                for _ in 0..60 {
                    let (object, segment) = (round * 10 + random.below(10), random.below(20) as u32);
                    if model.insert((object, segment), wire(object, segment)).is_none() {
                        layout.insert(object, segment, &wire(object, segment)).unwrap();
                    }
                }
                layout.commit().unwrap();
                let gone: Vec<u64> = (0..40).filter(|_| random.chance(0.3)).collect();
                model.retain(|(object, _), _| !gone.contains(object));
                layout.begin_deletion(&gone).unwrap();
                loop {
                    for object in 0..40 {
                        for segment in 0..20 {
                            let expected = model.get(&(object, segment)).cloned();
                            assert_eq!(
                                layout.read(object, segment).unwrap(),
                                expected,
                                "{object} {segment} {layout:?}"
                            );
                        }
                    }
                    if layout.step().unwrap() == Phase::Idle {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn copy_and_swap_takes_nothing_while_it_sorts_copies_and_cleans_up() {
    let disk: Arc<dyn Disk> = Arc::new(SimulatedDisk::new(1));
    for while_deleting in [ServiceDuringDeletion::Stop, ServiceDuringDeletion::ServeReadOnly] {
        let mut layout = CopyAndSwap::new(&disk, while_deleting, 1 << 20).unwrap();
        (0..4).for_each(|object| layout.insert(object, 0, &wire(object, 0)).unwrap());
        layout.commit().unwrap();
        layout.begin_deletion(&[1]).unwrap();
        let mut phases = Vec::new();
        loop {
            let is_served = layout.read(0, 0).is_ok();
            let phase = layout.step().unwrap();
            if phase == Phase::Idle {
                break;
            }
            assert_eq!(is_served, while_deleting == ServiceDuringDeletion::ServeReadOnly);
            phases.push(phase);
            let refused = matches!(layout.insert(9, 0, b"x"), Err(ReclaimError::Deleting));
            assert_eq!(refused, phase != Phase::CleanUp);
        }
        assert_eq!(phases, [Phase::Sort, Phase::Copy, Phase::CleanUp]);
        assert_eq!(layout.read(3, 0).unwrap(), Some(wire(3, 0)));
    }
}
