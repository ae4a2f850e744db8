//! Kernels as printed, compiled for a processor and run there.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::process::Command;

use millpond_hal::code::{Call, Machine};
use millpond_hal::{Address, DeviceCode, HostKernel, KernelError};

use crate::device::text::{MORE, shared_prelude};
use crate::host::tests::array::Array;

/// What grids are made for: so small that threads go over several packs.
pub(super) const MACHINE: Machine = Machine {
    multiprocessors: 2,
    resident_threads: 512,
    warp: 32,
    shared_memory: 48 << 10,
};

/// Sources of one unit: so many that compilers on all cores have something to do.
const UNITS: usize = 2;

type Entry = unsafe extern "C" fn(*const c_char, *const c_void, *const u32, u32) -> c_int;

/// The kernels of all cases, by their keys.
pub(super) struct Library {
    entries: HashMap<Vec<u8>, Entry>,
}

impl Library {
    /// The library of a test; `None` without a compiler.
    pub(super) fn new(test: &str, sources: Vec<(Vec<u8>, String)>) -> Option<Self> {
        Command::new("c++").arg("--version").output().ok()?;
        let folder =
            std::env::temp_dir().join(format!("millpond-kernels-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let chunk = sources.len().div_ceil(UNITS);
        let units: Vec<_> = sources
            .chunks(chunk)
            .enumerate()
            .map(|(number, sources)| {
                let (text, library) = (
                    folder.join(format!("unit{number}.cpp")),
                    folder.join(format!("unit{number}.so")),
                );
                std::fs::write(&text, unit(number * chunk, sources)).unwrap();
                let compiler = Command::new("c++")
                    .args([
                        "-std=c++17",
                        "-O0",
                        "-fno-strict-aliasing",
                        "-ffp-contract=off",
                    ])
                    .args(["-mfma", "-w", "-shared", "-fPIC", "-o"])
                    .args([&library, &text])
                    .spawn()
                    .unwrap();
                (compiler, library)
            })
            .collect();
        let mut handles = Vec::new();
        for (mut compiler, library) in units {
            assert!(
                compiler.wait().unwrap().success(),
                "{} does not compile",
                library.display()
            );
            let path = CString::new(library.to_str().unwrap()).unwrap();
            // SAFETY: a library without initialisers.
            let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            assert!(!handle.is_null(), "{} can't be loaded", library.display());
            handles.push(handle);
        }
        std::fs::remove_dir_all(&folder).unwrap();
        let entries = sources.into_iter().enumerate().map(|(number, (key, _))| {
            let name = CString::new(format!("case_{number}")).unwrap();
            // SAFETY: a library that was loaded.
            let symbol = unsafe { libc::dlsym(handles[number / chunk], name.as_ptr()) };
            assert!(!symbol.is_null(), "no {name:?}");
            // SAFETY: every unit defines it with this type.
            let entry = unsafe { std::mem::transmute::<*mut c_void, Entry>(symbol) };
            (key, entry)
        });
        Some(Self {
            entries: entries.collect(),
        })
    }

    /// Runs code of a kernel over the arrays.
    pub(super) fn run(
        &self,
        kernel: &dyn HostKernel,
        code: &dyn DeviceCode,
        arrays: &mut [Array],
    ) -> Result<(), KernelError> {
        let entry = self.entries[&super::key(code)];
        let operands = arrays[..kernel.operands()].iter_mut();
        let bases: Vec<_> = operands.map(Array::address).collect();
        let mut scratch = vec![[0xa5_u8; 256]; code.scratch(&MACHINE).div_ceil(256) + 1];
        let mut report = [0_u64; 4];
        let first = scratch.as_mut_ptr();
        let call = Call {
            bases: &bases,
            machine: &MACHINE,
            scratch: Address::of(
                first
                    .cast::<u8>()
                    .wrapping_add(first.cast::<u8>().align_offset(256)),
            ),
            report: Address::of(report.as_mut_ptr()),
        };
        for launch in code.launches(&call) {
            let name = CString::new(launch.entry).unwrap();
            let mut bytes: Vec<[u64; 2]> = Vec::new();
            for chunk in launch.arguments.bytes().chunks(16) {
                let mut words = [0; 16];
                words[..chunk.len()].copy_from_slice(chunk);
                let (low, high) = words.split_at(8);
                let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
                bytes.push([word(low), word(high)]);
            }
            let arguments = Aligned(bytes);
            // SAFETY: the entry takes what the launch says, whose addresses are those of the arrays.
            let failed = unsafe {
                entry(
                    name.as_ptr(),
                    arguments.address(),
                    launch.blocks.as_ptr(),
                    launch.threads,
                )
            };
            assert_eq!(
                failed,
                0,
                "{} of {}",
                launch.entry,
                super::Described(kernel)
            );
        }
        assert!(report[0] == 0 || code.reports());
        if report[0] == 0 {
            Ok(())
        } else {
            Err(code.error(report))
        }
    }
}

/// The bytes of a structure, at an address that suits any; vectors of words have it.
struct Aligned(Vec<[u64; 2]>);

impl Aligned {
    fn address(&self) -> *const c_void {
        assert!(self.0.as_ptr().addr().is_multiple_of(16));
        self.0.as_ptr().cast()
    }
}

/// The names of a source's entries.
pub(super) fn entries(source: &str) -> impl Iterator<Item = &str> {
    let parts = source.split("\nMP_ENTRY").skip(1);
    parts.map(|part| part.split(['(', ')', ',']).nth(1).unwrap_or_default())
}

/// What a source has beyond the prelude, in a namespace of its own.
pub(super) fn case(number: usize, source: &str) -> String {
    let (_, own) = source
        .split_once("// ---- The kernel ----\n")
        .expect("a source");
    format!("namespace of_case_{number} {{\n{own}\n}}\n")
}

/// The text of a unit of sources, numbered from `first` on.
fn unit(first: usize, sources: &[(Vec<u8>, String)]) -> String {
    let mut text = String::from(include_str!("shim.cuh"));
    shared_prelude(&mut text);
    text.push_str(include_str!("warp.cuh"));
    text.extend(MORE.iter().copied());
    for (number, (_, source)) in (first..).zip(sources) {
        text.push_str(&case(number, source));
        let has_barriers = ["__shared__", "by_lanes", "by_warps"]
            .iter()
            .any(|word| case(number, source).contains(word));
        let _ = writeln!(
            text,
            "extern \"C\" int case_{number}(const char* entry, const void* arguments, const unsigned* blocks, unsigned threads) {{"
        );
        for entry in entries(source) {
            let _ = writeln!(
                text,
                "    if (strcmp(entry, \"{entry}\") == 0) return run_grid(of_case_{number}::{entry}, arguments, blocks, threads, {has_barriers});"
            );
        }
        text.push_str("    return 2;\n}\n");
    }
    text
}
