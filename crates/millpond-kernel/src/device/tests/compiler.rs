//! Every printed kernel, compiled by the device's own compiler; no device is needed.
//!
//! Nothing in a source depends on the architecture, so each architecture gets its share of the units.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::processor::case;
use crate::device::text::{MORE, prelude};

/// Architectures that are compiled for, where the compiler knows them.
const ARCHITECTURES: &[&CStr] = &[c"compute_80", c"compute_90", c"compute_100"];

/// Kernels of a unit.
const TOGETHER: usize = 24;

type Program = *mut c_void;

/// The functions of the compiler that are used.
struct Compiler {
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    architectures: Vec<&'static CStr>,
}

impl Compiler {
    /// The compiler of the system, or that of the project's own Python.
    fn find() -> Option<Self> {
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        let mut paths: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let environment = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/lib");
        for python in std::fs::read_dir(environment)
            .into_iter()
            .flatten()
            .flatten()
        {
            let packages = python.path().join("site-packages/nvidia");
            for folder in ["cu13/lib", "cuda_nvrtc/lib"] {
                paths.extend(names.iter().map(|name| packages.join(folder).join(name)));
            }
        }
        paths.into_iter().find_map(|path| Self::open(&path))
    }

    #[allow(
        clippy::missing_transmute_annotations,
        reason = "the field says the type"
    )]
    fn open(path: &std::path::Path) -> Option<Self> {
        let path = CString::new(path.to_str()?).ok()?;
        // SAFETY: the compiler's library, which may be loaded at any time.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        if handle.is_null() {
            return None;
        }
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: a library that was loaded.
                let symbol = unsafe { libc::dlsym(handle, $name.as_ptr()) };
                assert!(!symbol.is_null(), "no {:?}", $name);
                // SAFETY: the type that the compiler's manual says.
                unsafe { std::mem::transmute(symbol) }
            }};
        }
        let count: unsafe extern "C" fn(*mut c_int) -> c_int =
            function!(c"nvrtcGetNumSupportedArchs");
        let list: unsafe extern "C" fn(*mut c_int) -> c_int = function!(c"nvrtcGetSupportedArchs");
        let mut known = 0;
        // SAFETY: room for a number.
        assert_eq!(unsafe { count(&raw mut known) }, 0);
        let mut numbers = vec![0; known as usize];
        // SAFETY: room for as many numbers as the compiler knows architectures.
        assert_eq!(unsafe { list(numbers.as_mut_ptr()) }, 0);
        let is_known = |name: &&&CStr| {
            let number = name.to_str().unwrap_or_default().rsplit('_').next();
            number
                .and_then(|number| number.parse().ok())
                .is_some_and(|number| numbers.contains(&number))
        };
        Some(Self {
            create: function!(c"nvrtcCreateProgram"),
            compile: function!(c"nvrtcCompileProgram"),
            log_size: function!(c"nvrtcGetProgramLogSize"),
            log: function!(c"nvrtcGetProgramLog"),
            destroy: function!(c"nvrtcDestroyProgram"),
            architectures: ARCHITECTURES.iter().filter(is_known).copied().collect(),
        })
    }

    /// What the compiler has to say of a source: nothing, if all is well.
    fn compile(&self, source: &str, architecture: &CStr) -> String {
        let source = CString::new(source).unwrap();
        let option = [c"--gpu-architecture=".to_bytes(), architecture.to_bytes()].concat();
        let option = CString::new(option).unwrap();
        let options = [
            option.as_ptr(),
            c"--std=c++17".as_ptr(),
            c"--fmad=false".as_ptr(),
        ];
        let mut program = std::ptr::null_mut();
        let none = std::ptr::null();
        // SAFETY: a source that ends with a zero, and no headers.
        let made = unsafe {
            (self.create)(
                &raw mut program,
                source.as_ptr(),
                none,
                0,
                none.cast(),
                none.cast(),
            )
        };
        assert_eq!(made, 0);
        // SAFETY: a program, and as many options as said.
        let failed = unsafe { (self.compile)(program, options.len() as c_int, options.as_ptr()) };
        let mut size = 0;
        // SAFETY: a program that was compiled, and room for a number.
        assert_eq!(unsafe { (self.log_size)(program, &raw mut size) }, 0);
        let mut log = vec![0_u8; size.max(1)];
        // SAFETY: room for as many bytes as the compiler said.
        assert_eq!(unsafe { (self.log)(program, log.as_mut_ptr().cast()) }, 0);
        // SAFETY: a program, which nobody uses any more.
        assert_eq!(unsafe { (self.destroy)(&raw mut program) }, 0);
        let log = String::from_utf8_lossy(&log);
        let log = log.trim_end_matches('\0').trim();
        if failed == 0 {
            log.to_owned()
        } else {
            format!("error {failed}: {log}")
        }
    }
}

#[test]
fn every_printed_kernel_compiles_without_a_word() {
    let Some(compiler) = Compiler::find() else {
        eprintln!("skipped: there is no NVRTC, neither the system's nor that of `.venv`");
        return;
    };
    let (close, exact) = (super::all(), super::exact::all());
    let cases = close.iter().chain(exact.iter().map(|exact| &exact.case));
    let sources: Vec<_> = super::sources(cases)
        .into_iter()
        .map(|(_, source)| source)
        .collect();
    // Entries of many kernels in one unit are not C functions: their names are the same.
    let files = [&[include_str!("../warp.cuh")], MORE].concat();
    let prelude = prelude(&files).replace("extern \"C\" __global__", "__global__");
    let units: Vec<_> = sources
        .chunks(TOGETHER)
        .map(|sources| {
            let cases = sources
                .iter()
                .enumerate()
                .map(|(number, source)| case(number, source));
            format!("{prelude}{}", cases.collect::<String>())
        })
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut complaints = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(unit) = units.get(number) else {
                return complaints;
            };
            let architecture = compiler.architectures[number % compiler.architectures.len()];
            let complaint = compiler.compile(unit, architecture);
            if !complaint.is_empty() {
                complaints.push(complaint);
            }
        }
    };
    let complaints = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        let found = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap());
        found.collect::<Vec<_>>()
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
