//! Fills.

use std::sync::Arc;

use millpond_hal::Device;
use millpond_types::MemoryKind;

use super::raw::{Line, Memory};

const BYTES: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];

/// The pattern over and over, at aligned and odd places; nothing beside the range changes.
pub fn every_pattern_fills_exactly_its_range(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let dst = Memory::new(device, MemoryKind::Host, 400).expect("a little memory");
    for len in [1, 2, 4, 8, 16] {
        for count in [0, 1, 2, 3, 5, 8, 17, 23] {
            for start in [0, len, 1] {
                let range = start..start + len * count;
                dst.write(&[]);
                line.fill(&[], &dst.part(range.clone()), &BYTES[..len]);
                let mut expected = vec![0; 400];
                for (i, byte) in expected[range.clone()].iter_mut().enumerate() {
                    *byte = BYTES[i % len];
                }
                assert_eq!(dst.bytes(), expected, "{len} bytes over {range:?}");
            }
        }
    }
}

/// Sizes that a backend splits; the pattern doesn't restart out of step.
pub fn large_fills_are_exact(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for (len, bytes) in [(1, (1 << 20) + 3), (4, (3 << 20) + 4), (16, (9 << 20) + 16)] {
        let dst = Memory::new(device, MemoryKind::Host, bytes).expect("a few megabytes");
        line.fill(&[], &dst.all(), &BYTES[..len]);
        let wrong = dst
            .bytes()
            .iter()
            .enumerate()
            .position(|(i, &byte)| byte != BYTES[i % len]);
        assert_eq!(wrong, None, "the first wrong byte of {bytes}");
    }
}

/// Fills of memory that the host can't reach are seen by a copy.
pub fn fills_reach_all_kinds(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for kind in MemoryKind::ALL {
        let memory = Memory::new(device, kind, 999).expect("a little memory");
        let host = Memory::new(device, MemoryKind::Host, 999).expect("a little memory");
        line.fill(&[], &memory.all(), &[7]);
        line.copy(&[], &memory.all(), &host.all());
        assert_eq!(host.bytes(), [7; 999], "{kind} memory");
    }
}
