//! The programs of `examples/unified-runtime`, built with the system's compilers and run through the stock
//! loader: by itself, and with its layers, which find nothing to say.
//!
//! The loader is the one that `UR_LOADER` names, or that of the Python packages in `.venv`.

#![allow(clippy::print_stderr, reason = "says which tests are left out")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The loader's layers, each of which is switched on: they check arguments and sizes, and tell of calls.
/// The one for lifetimes takes no pool and default pools for mistakes.
const LAYERS: &[&str] = &[
    "UR_LAYER_PARAMETER_VALIDATION",
    "UR_LAYER_BOUNDS_CHECKING",
    "UR_LAYER_TRACING",
];

/// Counts what is left over, of which it takes pools that `urUSMPoolDestroyExp` ended.
const LEAKS: &str = "UR_LAYER_LEAK_CHECKING";

#[allow(
    clippy::disallowed_methods,
    reason = "says what is tested, not how millpond runs"
)]
fn loader() -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.venv/lib/libur_loader.so.0");
    let file = std::env::var_os("UR_LOADER").map_or(own, PathBuf::from);
    let folder = file.parent()?.to_owned();
    let has_all = file.exists() && folder.join("../include/unified-runtime/ur_api.h").exists();
    if !has_all {
        eprintln!("skipped: no loader and header in .venv");
    }
    has_all.then_some(folder)
}

/// This package's adapter, beside the programs of the tests.
fn adapter() -> PathBuf {
    let program = std::env::current_exe().expect("a test has a program");
    program.with_file_name("libur_adapter_millpond.so")
}

/// Builds a program; none where there is no compiler.
fn build(loader: &Path, compiler: &str, file: &str) -> Option<PathBuf> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/unified-runtime");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file.replace('.', "-"));
    let mut search = std::ffi::OsString::from("-Wl,-rpath,");
    search.push(loader);
    let built = Command::new(compiler)
        .args([
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-unused-parameter",
            "-isystem",
        ])
        .arg(loader.join("../include/unified-runtime"))
        .arg(examples.join(file))
        .arg("-L")
        .arg(loader)
        .args(["-lur_loader", "-o"])
        .arg(&program)
        .arg(search)
        .output();
    let Ok(built) = built else {
        eprintln!("skipped: there is no {compiler}");
        return None;
    };
    assert!(built.status.success(), "{file}: {}", text(&built));
    Some(program)
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{out}{err}")
}

fn run(loader: &Path, program: &Path, settings: &[(&str, &str)]) -> String {
    let ran = Command::new(program)
        .env("LD_LIBRARY_PATH", loader)
        .env("UR_ADAPTERS_FORCE_LOAD", adapter())
        .envs(settings.iter().copied())
        .output()
        .expect("a program that was built can be run");
    let text = text(&ran);
    assert!(ran.status.success(), "{}: {text}", program.display());
    text
}

/// Builds and runs a program, by itself and with each of the layers; what it says.
fn say(compiler: &str, file: &str, layers: &[&str]) -> Option<String> {
    let loader = loader()?;
    let program = build(&loader, compiler, file)?;
    let said = run(&loader, &program, &[]);
    let told = "level:warning;flush:warning;output:stderr";
    for layer in layers {
        let settings = [("UR_ENABLE_LAYERS", *layer), ("UR_LOG_VALIDATION", told)];
        assert_eq!(run(&loader, &program, &settings), said, "{layer} is silent");
    }
    // Calls go by the table that each handle leads to.
    let by_handles = [("UR_ENABLE_LOADER_INTERCEPT", "1")];
    assert_eq!(run(&loader, &program, &by_handles), said);
    Some(said)
}

#[test]
fn the_program_in_c_does_what_it_says() {
    let Some(said) = say("cc", "pools.c", LAYERS) else {
        return;
    };
    for line in [
        "freed and allocated again: the same address",
        "by way of two queues: 7 at both ends",
        "the program's pool is current: yes",
    ] {
        assert!(said.contains(line), "{said}");
    }
    let trimmed = said.lines().find(|line| line.starts_with("after trimming"));
    let trimmed = trimmed.unwrap_or_else(|| panic!("{said}"));
    assert!(
        trimmed.ends_with("0 KiB used,        0 KiB reserved"),
        "{said}"
    );
}

#[test]
fn the_program_in_cpp_does_what_it_says() {
    let Some(said) = say("c++", "pools.cpp", &[LAYERS, &[LEAKS]].concat()) else {
        return;
    };
    assert_eq!(said.lines().count(), 8, "{said}");
    assert!(said.lines().all(|line| line.ends_with("yes")), "{said}");
}
