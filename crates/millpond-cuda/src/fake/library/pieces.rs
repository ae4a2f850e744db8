//! The kernels that bring matrices into a library's form, compiled for the processor.

use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::super::Fake;

/// The device's own words for a compiler of the host.
const SHIM: &str = include_str!("../../../../millpond-kernel/src/device/tests/shim.cuh");

const SOURCE: &str = include_str!("../../library/pieces.cuh");

/// Entries with the words of their structures, and whether their threads wait for each other.
const ENTRIES: [(&str, usize, bool); 9] = [
    ("carry_float32", CARRY, false),
    ("carry_float64", CARRY, false),
    ("carry_complex64", CARRY, false),
    ("carry_complex128", CARRY, false),
    ("judge", 3, false),
    ("pivots_float32", 5, true),
    ("pivots_float64", 5, true),
    ("pivots_complex64", 5, true),
    ("pivots_complex128", 5, true),
];

const CARRY: usize = 30;

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
    for (name, words, _) in ENTRIES {
        let text = CString::new(name).expect("a name");
        fake.entry(name, words * 8, move |launched| {
            let words: Vec<u64> = (0..words)
                .map(|index| launched.number(index) as u64)
                .collect();
            let threads = if name.starts_with("pivots") { 128 } else { 256 };
            // A grid of any size does the work, and one of two blocks shows that.
            let blocks = [if name.starts_with("carry") { 2 } else { 1 }, 1, 1_u32];
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

/// The source, compiled; `None` without a compiler.
fn compiled() -> Option<Run> {
    Command::new("c++").arg("--version").output().ok()?;
    let folder = std::env::temp_dir().join(format!("millpond-pieces-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    let (text, library) = (folder.join("pieces.cpp"), folder.join("pieces.so"));
    std::fs::write(&text, unit()).expect("it can be written");
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

fn unit() -> String {
    let mut text = format!("{SHIM}\n#define __global__\nnamespace pieces {{\n{SOURCE}\n}}\n");
    text.push_str(
        "extern \"C\" int run(const char* entry, const void* arguments, const unsigned* blocks, unsigned threads) {\n",
    );
    for (name, words, has_barriers) in ENTRIES {
        let structure = match name.split('_').next() {
            Some("carry") => "Carry",
            Some("judge") => "Judge",
            _ => "Pivots",
        };
        let bytes = words * 8;
        let _ = writeln!(
            text,
            "    static_assert(sizeof(pieces::{structure}) == {bytes});\n    if (strcmp(entry, \"{name}\") == 0) \
             return run_grid(pieces::{name}, arguments, blocks, threads, {has_barriers});"
        );
    }
    text.push_str("    return 2;\n}\n");
    text
}
