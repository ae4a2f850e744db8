//! `cargo xtask test`: the test suites.
//!
//! Rust tests run with nextest where it is installed and with `cargo test` elsewhere, documentation tests after them;
//! Python tests, the examples of the pages and the comparisons with docstrings and stubs run against an installed wheel
//! of the same build: with every assertion, and with the loops of a release. With `--device cuda` the suites of backends
//! run on a real card instead, and those in Python with it as the default device; a machine without one fails. Some of
//! those in Python are always run once more on a card that is none: a library in place of NVIDIA's driver.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};

use crate::docs;
use crate::failure::{Failure, Outcome};
use crate::generate::reference;
use crate::metadata::target;
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};
use crate::wheel::{self, Profile, Reach};

/// The exit code of pytest for "no test was selected".
const PYTEST_NOTHING_SELECTED: i32 = 5;

/// What Rust tests cover. All crates are named, so that dependencies have the same features as in the wheel and are built
/// once for both.
pub(crate) const RUST_TESTS: &[&str] = &["--workspace", "--tests"];

/// Runs the suites.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &["rust", "python", "simd"], &["device"])?;
    if let Some(device) = options.value("device") {
        return on_device(device, &options);
    }
    let both = options.has("rust") == options.has("python");
    let with_python = both || options.has("python");
    python_env::prepare(match (both, with_python) {
        (true, _) => &["build", "test", "ur", "device"],
        (false, true) => &["build", "test"],
        (false, false) => &[],
    })?;
    if with_python {
        let wheel = wheel::build(Reach::Here, Profile::Test)?;
        python_env::install_wheel(&wheel)?;
    }
    let levels = if options.has("simd") {
        machine_levels().into_iter().map(Some).collect()
    } else {
        vec![None]
    };
    let mut failed = Vec::new();
    for level in levels {
        if both || options.has("rust") {
            rust(&options.words, level, &mut failed)?;
        }
        if with_python {
            let mode = Mode {
                level,
                ..Mode::default()
            };
            python(&options.words, mode, &mut failed)?;
        }
    }
    // The library in place of a driver is built with the Rust tests.
    if both && options.words.is_empty() {
        python_without_a_card(&mut failed)?;
    }
    if with_python && options.words.is_empty() {
        pages(&mut failed)?;
        let docstrings = reference::comparison();
        suite("pages from docstrings", docstrings, &[0], &mut failed)?;
        stubs(&mut failed)?;
        site(&mut failed)?;
    }
    if failed.is_empty() {
        println!("test: all suites passed");
        return Ok(());
    }
    Err(Failure::Check(format!("failed: {}", failed.join(", "))))
}

/// The crates with tests that need a card.
const CARD_CRATES: &[&str] = &["millpond-cuda", "millpond"];

/// Runs the tests that need a device other than the CPU, and says on which there was: those in Rust that only such a device
/// has, and those in Python with the device as the default.
fn on_device(device: &str, options: &Options) -> Outcome<()> {
    let filters = &options.words;
    let both = options.has("rust") == options.has("python");
    if device != "cuda" {
        return Err(Failure::Usage(format!(
            "there are no tests for device '{device}', only for cuda"
        )));
    }
    let mut failed = Vec::new();
    for name in CARD_CRATES.iter().filter(|_| both || options.has("rust")) {
        let tests = Program::cargo().args([
            "test",
            "--package",
            name,
            "--features",
            "card",
            "--test",
            "card",
        ]);
        let tests = tests.args(["--", "--show-output"]).args(filters);
        suite(&format!("{name} on cuda"), tests, &[0], &mut failed)?;
    }
    if both || options.has("python") {
        python_env::prepare(&["build", "test"])?;
        let wheel = wheel::build(Reach::Here, Profile::Test)?;
        python_env::install_wheel(&wheel)?;
        let mode = Mode {
            device: Some("cuda:0"),
            ..Mode::default()
        };
        python(filters, mode, &mut failed)?;
    }
    if failed.is_empty() {
        println!("test: all suites passed on cuda; the devices are named above");
        return Ok(());
    }
    Err(Failure::Check(format!("failed: {}", failed.join(", "))))
}

/// The vector levels that this machine can run, as `MILLPOND_SIMD` names them.
fn machine_levels() -> Vec<&'static str> {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("baseline", true),
        (
            "avx2",
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        ),
        (
            "avx512",
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl"),
        ),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let found = [("baseline", true)];
    found
        .into_iter()
        .filter_map(|(name, present)| present.then_some(name))
        .collect()
}

/// What the environment sets for a suite.
#[derive(Clone, Copy, Default)]
struct Mode<'a> {
    /// Vector instructions.
    level: Option<&'a str>,
    /// The default device.
    device: Option<&'a str>,
}

fn rust(filters: &[String], level: Option<&str>, failed: &mut Vec<String>) -> Outcome<()> {
    let nextest = Program::cargo().args(["nextest", "--version"]).probe();
    let unit = if nextest.is_some() {
        let run = ["nextest", "run", "--no-tests=pass"];
        Program::cargo().args(run).args(RUST_TESTS).args(filters)
    } else {
        println!("note: cargo-nextest is not installed; cargo test runs the suites");
        let program = Program::cargo().args(["test", "--no-fail-fast"]);
        let program = program.args(RUST_TESTS);
        program.arg("--").args(filters)
    };
    let title = titled("Rust tests", level);
    suite(&title, at_level(unit, level), &[0], failed)?;
    // Documentation tests compile the same text at every level; running them once is enough.
    if level.is_none() || level == machine_levels().last().copied() {
        let doc = Program::cargo().args(["test", "--doc", "--workspace"]);
        let doc = doc.arg("--").args(filters);
        suite("Rust documentation tests", doc, &[0], failed)?;
    }
    Ok(())
}

/// The program that runs Python tests, on all cores.
fn pytest() -> Program {
    let tests = python_env::python().args(["-m", "pytest", "--numprocesses", "auto"]);
    tests.within(project::path("python"))
}

fn python(filters: &[String], mode: Mode<'_>, failed: &mut Vec<String>) -> Outcome<()> {
    let tests = match mode.device {
        Some(device) => pytest().env("MILLPOND_DEVICE", device),
        None => pytest(),
    };
    let tests = at_level(tests, mode.level);
    let title = match mode.device {
        Some(device) => format!("Python tests on {device}"),
        None => titled("Python tests", mode.level),
    };
    if filters.is_empty() {
        return suite(&title, tests, &[0], failed);
    }
    let tests = tests.arg("-k").arg(filters.join(" or "));
    suite(&title, tests, &[0, PYTEST_NOTHING_SELECTED], failed)
}

/// Python tests, paths and names, in which much is asked of a driver: memory, copies, order, and everything once.
const WITHOUT_A_CARD: &[&str] = &[
    "tests/memory",
    "tests/tensor/test_aliasing.py",
    "tests/tensor/test_indexing.py",
    "tests/tensor/test_order.py",
    "tests/tensor/test_abuse.py::test_whatever_is_called_answers[2]",
];

/// Runs them on a card that is none; the host carries out its kernels.
fn python_without_a_card(failed: &mut Vec<String>) -> Outcome<()> {
    let driver = format!("debug/deps/{DLL_PREFIX}millpond_cuda_fake{DLL_SUFFIX}");
    let tests = pytest()
        .args(WITHOUT_A_CARD)
        .env("MILLPOND_CUDA", target()?.join(driver))
        .env("MILLPOND_DEVICE", "cuda:0")
        .env("MILLPOND_NVRTC", "0");
    suite("Python tests on a card that is none", tests, &[0], failed)
}

/// The Python examples of the pages; those in Rust are documentation tests or checked by hand.
fn pages(failed: &mut Vec<String>) -> Outcome<()> {
    let mut pages = project::files(project::root())?;
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    let program = python_env::python().arg("xtask/page_examples.py");
    suite("examples of the pages", program.args(pages), &[0], failed)
}

/// Whether the stubs say of each name what the installed package has.
fn stubs(failed: &mut Vec<String>) -> Outcome<()> {
    if let Err(why) = python_env::prepare(&["lint"]) {
        println!("skipped: stubs: {why}");
        return Ok(());
    }
    let program = python_env::python().args([
        "-m",
        "mypy.stubtest",
        "millpond",
        "--concise",
        "--allowlist",
        "python/stubtest-allowlist.txt",
        "--ignore-unused-allowlist",
    ]);
    suite("stubs", program, &[0], failed)
}

/// Whether the documentation site can be made of the pages and the docstrings, without a warning.
fn site(failed: &mut Vec<String>) -> Outcome<()> {
    if let Err(why) = python_env::prepare(&["docs"]) {
        println!("skipped: documentation site: {why}");
        return Ok(());
    }
    suite("documentation site", docs::site()?, &[0], failed)
}

fn suite(title: &str, program: Program, good: &[i32], failed: &mut Vec<String>) -> Outcome<()> {
    let passed = step(title, || match program.code()? {
        code if good.contains(&code) => Ok(()),
        code => Err(Failure::Check(format!("{title}: exit code {code}"))),
    });
    match passed {
        Err(Failure::Check(_)) => failed.push(title.to_owned()),
        other => other?,
    }
    Ok(())
}

fn at_level(program: Program, level: Option<&str>) -> Program {
    match level {
        Some(level) => program.env("MILLPOND_SIMD", level),
        None => program,
    }
}

fn titled(name: &str, level: Option<&str>) -> String {
    level.map_or_else(
        || name.to_owned(),
        |level| format!("{name} with MILLPOND_SIMD={level}"),
    )
}
