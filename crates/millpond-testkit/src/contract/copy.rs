//! Copies.

use std::sync::Arc;

use millpond_hal::Device;
use millpond_types::MemoryKind;

use super::raw::{Line, Memory};
use super::watch::{WELL, watched};

/// Bytes without a short period.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + i / 251 * 7 + 5) as u8).collect()
}

/// Sizes around every vector width; nothing beside the range changes.
pub fn small_copies_are_exact_at_every_size_and_offset(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let content = noise(192);
    let src = Memory::holding(device, &content);
    let dst = Memory::new(device, MemoryKind::Host, 192).expect("a little memory");
    for bytes in (0..=72).chain([127, 128, 129]) {
        for (from, to) in [(0, 0), (1, 0), (0, 3), (5, 2)] {
            dst.write(&[]);
            line.copy(
                &[],
                &src.part(from..from + bytes),
                &dst.part(to..to + bytes),
            );
            let mut expected = vec![0; 192];
            expected[to..to + bytes].copy_from_slice(&content[from..from + bytes]);
            assert_eq!(dst.bytes(), expected, "{bytes} bytes from {from} to {to}");
        }
    }
}

/// Sizes that a backend splits.
pub fn large_copies_are_exact(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for bytes in [(1 << 16) + 1, (1 << 20) - 1, (9 << 20) + 13] {
        let content = noise(bytes);
        let src = Memory::holding(device, &content);
        let dst = Memory::new(device, MemoryKind::Host, bytes).expect("a few megabytes");
        line.copy(&[], &src.all(), &dst.all());
        assert!(dst.bytes() == content, "a copy of {bytes} bytes differs");
    }
}

/// From every kind to every kind.
pub fn copies_reach_between_all_kinds(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let content = noise(1001);
    for first in MemoryKind::ALL {
        for second in MemoryKind::ALL {
            let host = Memory::holding(device, &content);
            let [a, b] = [first, second]
                .map(|kind| Memory::new(device, kind, 1001).expect("a little memory"));
            let back = Memory::new(device, MemoryKind::Host, 1001).expect("a little memory");
            line.copy(&[], &host.all(), &a.all());
            line.copy(&[], &a.all(), &b.all());
            line.copy(&[], &b.all(), &back.all());
            assert!(back.bytes() == content, "from {first} to {second}");
        }
    }
}

/// B2: a chain of copies without a wait, over one buffer again and again.
pub fn copies_take_effect_in_sequence_order(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let sources: Vec<Memory> = (0..8)
        .map(|i| Memory::holding(device, &vec![i; 40_000 >> i]))
        .collect();
    let middle = Memory::new(device, MemoryKind::Device, 40_000).expect("a little memory");
    let results: Vec<Memory> = sources
        .iter()
        .map(|source| {
            let result = Memory::new(device, MemoryKind::Host, 40_000).expect("a little memory");
            line.copy(&[], &source.all(), &middle.part(0..source.len()));
            line.copy(&[], &middle.all(), &result.all());
            result
        })
        .collect();
    let mut expected = vec![0; 40_000];
    for (i, result) in results.iter().enumerate() {
        expected[..40_000 >> i].fill(i as u8);
        assert!(result.bytes() == expected, "after step {i}");
    }
}

/// What `zeroed` promises.
pub fn memory_called_zeroed_holds_zeros(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for kind in MemoryKind::ALL {
        let memory = Memory::new(device, kind, 100_003).expect("a little memory");
        if memory.allocation().zeroed {
            let host = Memory::new(device, MemoryKind::Host, 100_003).expect("a little memory");
            line.copy(&[], &memory.all(), &host.all());
            assert!(host.bytes().iter().all(|&byte| byte == 0), "{kind} memory");
        }
    }
}

/// Copies and fills tell who watches them, whether one thread carries them out or several.
pub fn transfers_can_be_watched(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for bytes in [64, 4 << 20] {
        let from = Memory::holding(device, &vec![1; bytes]);
        let to = Memory::holding(device, &vec![0; bytes]);
        let copy = watched(&line);
        line.copy(&[], &from.all(), &to.all());
        let fill = watched(&line);
        line.wait(line.fill(&[], &to.all(), &[7]));
        assert_eq!((copy.all(), fill.all()), (WELL.to_vec(), WELL.to_vec()));
    }
}
