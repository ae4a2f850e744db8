//! The kernels beside libraries and in their place, compiled for the processor.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use millpond_hal::DeviceCode;

use super::super::Fake;
use crate::library::{Pieces, samples};

/// The device's own words for a compiler of the host.
const SHIM: &str = include_str!("../../../../millpond-kernel/src/device/tests/shim.cuh");

/// Entries of a source: the structure that they take, its words, and whether their threads wait for each other.
struct Unit {
    source: String,
    entries: Vec<(String, &'static str, usize, bool)>,
}

/// The sources, each with its entries.
fn units() -> Vec<Unit> {
    let dtypes = ["float32", "float64", "complex64", "complex128"];
    let of = |kind: &str, structure, words, waits| {
        dtypes.map(|dtype| (format!("{kind}_{dtype}"), structure, words, waits))
    };
    let mut entries = vec![("judge".to_owned(), "Judge", 3, false)];
    entries.extend(of("carry", "Carry", 30, false));
    entries.extend(of("pivots", "Pivots", 5, true));
    let pieces = Unit {
        source: Pieces.source(),
        entries,
    };
    let own = samples().into_iter().map(|sample| Unit {
        source: sample.source,
        entries: sample
            .entries
            .into_iter()
            .map(|entry| (entry.to_owned(), sample.structure, sample.words, true))
            .collect(),
    });
    std::iter::once(pieces).chain(own).collect()
}

/// Runs an entry of a name: `(name, arguments, blocks, threads)`; 0 if all went well.
type Run = unsafe extern "C" fn(*const c_char, *const c_void, *const u32, u32) -> c_int;

/// Held while a kernel runs: threads that take turns have one place to do so in a process.
static RUNNING: Mutex<()> = Mutex::new(());

/// Has a fake driver run these kernels; whether there is a compiler for them.
pub(crate) fn furnish(fake: &Fake) -> bool {
    static COMPILED: OnceLock<Option<Run>> = OnceLock::new();
    let Some(run) = *COMPILED.get_or_init(compiled) else {
        println!("skipped: there is no C++ compiler");
        return false;
    };
    for (name, _, words, _) in units().into_iter().flat_map(|unit| unit.entries) {
        let text = CString::new(name.clone()).expect("a name");
        fake.entry(&name.clone(), words * 8, move |launched| {
            let words: Vec<u64> = (0..words)
                .map(|index| launched.number(index) as u64)
                .collect();
            let [[blocks, ..], [threads, ..]] = launched.shape;
            // A grid of any size does the work, and one of two blocks shows that.
            let blocks = [blocks.min(2), 1, 1_u32];
            let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: an entry with its structure; the addresses are those of live memory of the fake,
            // whose steps run one at a time.
            let failed = unsafe {
                run(
                    text.as_ptr(),
                    words.as_ptr().cast(),
                    blocks.as_ptr(),
                    threads,
                )
            };
            assert_eq!(failed, 0, "{name}");
        });
    }
    true
}

/// The sources, compiled; `None` without a compiler.
fn compiled() -> Option<Run> {
    Command::new("c++").arg("--version").output().ok()?;
    let folder = std::env::temp_dir().join(format!("millpond-pieces-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (text, library) = (folder.join("pieces.cpp"), folder.join("pieces.so"));
    std::fs::write(&text, text_of(&units())).expect("it can be written");
    let compiled = Command::new("c++")
        .args([
            "-std=c++17",
            "-O1",
            "-fno-strict-aliasing",
            "-ffp-contract=off",
        ])
        .args(["-w", "-shared", "-fPIC", "-o"])
        .args([&library, &text])
        .status();
    assert!(compiled.is_ok_and(|it| it.success()), "it doesn't compile");
    // SAFETY: a library without initialisers.
    let loaded = unsafe { libloading::Library::new(&library) }.expect("it can be loaded");
    std::fs::remove_dir_all(&folder).expect("it was made");
    // SAFETY: the unit defines it with this type.
    let run = *unsafe { loaded.get::<Run>(b"run\0") }.expect("it is there");
    // It stays for good, as its function does.
    std::mem::forget(loaded);
    Some(run)
}

fn text_of(units: &[Unit]) -> String {
    let mut text = format!("{SHIM}\n#define __global__\n#define __launch_bounds__(threads)\n");
    for (number, unit) in units.iter().enumerate() {
        let _ = writeln!(text, "namespace unit{number} {{\n{}\n}}", unit.source);
    }
    text.push_str(
        "extern \"C\" int run(const char* entry, const void* arguments, const unsigned* blocks, unsigned threads) {\n",
    );
    for (number, unit) in units.iter().enumerate() {
        for (name, structure, words, waits) in &unit.entries {
            let bytes = words * 8;
            let _ = writeln!(
                text,
                "    static_assert(sizeof(unit{number}::{structure}) == {bytes});\n    if (strcmp(entry, \"{name}\") == 0) \
                 return run_grid(unit{number}::{name}, arguments, blocks, threads, {waits});"
            );
        }
    }
    text.push_str("    return 2;\n}\n");
    text
}
