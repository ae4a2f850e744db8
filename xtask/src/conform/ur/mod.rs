//! `cargo xtask conform-ur FOLDER`: the public conformance executables of the Unified Runtime.
//!
//! They are not part of the project: FOLDER holds those that somebody built from the runtime's sources, linked with the
//! loader, which need no code for devices. Each of their tests runs in a process of its own, by way of the loader of
//! `.venv` or that of `--loader`, with millpond's adapter as the only one. Every failure counts, but for those of
//! `conformance/unified-runtime.toml`, each of which comes with the proof that the suite is wrong; one that passes after
//! all counts as well.

mod executable;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use super::expectations::Expectations;
use super::report::{Ending, Report};
use crate::failure::{Failure, Outcome};
use crate::metadata::target;
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};

use executable::Executable;

/// Cores of the device that is tested. The suite splits devices in ways that take as many.
const CORES: &str = "8";

/// Lines of what a failed test shows.
const SHOWN: usize = 12;

/// Runs the executables and judges what they say.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let valued = ["loader", "adapter", "filter", "jobs"];
    let options = Options::parse(arguments, &[], &valued)?;
    let suite = Suite::of(&options)?;
    let expectations = Expectations::read(&project::path("conformance/unified-runtime.toml"))?;
    let mut all = Report::default();
    for executable in &suite.executables {
        let name = executable.name();
        let report = step(name, || suite.run(executable))?;
        print!("{}", report.summary());
        all.tests.extend(report.tests);
    }
    print!("loader of {}: {}", suite.generation, all.counts());
    let whole = options.words.len() == 1 && options.value("filter").is_none();
    let faults = expectations.judge((suite.generation, None), &all, whole);
    if faults.is_empty() {
        println!("conform-ur: nothing unexpected");
        return Ok(());
    }
    for (name, ending) in &all.tests {
        if let Ending::Failed(shown) = ending {
            let lines: Vec<_> = shown.lines().take(SHOWN).collect();
            println!("{name}:\n    {}", lines.join("\n    "));
        }
    }
    println!("{}", faults.join("\n"));
    Err(Failure::Check(format!(
        "{} results differ from what is expected",
        faults.len()
    )))
}

/// The executables, and what they run with.
struct Suite {
    executables: Vec<Executable>,
    loader: PathBuf,
    /// The loader's, which names its layout of tables.
    generation: &'static str,
    adapter: PathBuf,
    filter: Option<String>,
    jobs: usize,
}

impl Suite {
    fn of(options: &Options) -> Outcome<Self> {
        let Some((folder, words)) = options.words.split_first() else {
            let what = "conform-ur needs the path of a folder with executables of the suite";
            return Err(Failure::Usage(what.to_owned()));
        };
        let mut executables = Executable::all(Path::new(folder))?;
        executables.retain(|one| words.is_empty() || words.iter().any(|word| word == one.name()));
        if executables.is_empty() {
            return Err(Failure::Missing(format!(
                "{folder} has none of these executables"
            )));
        }
        let loader = if let Some(folder) = options.value("loader") {
            fs::canonicalize(folder).map_err(Failure::file(folder))?
        } else {
            python_env::prepare(&["ur"])?;
            project::path(".venv/lib")
        };
        let adapter = match options.value("adapter") {
            Some(file) => fs::canonicalize(file).map_err(Failure::file(file))?,
            None => step("build the adapter", build)?,
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            executables,
            generation: generation(&loader.join("libur_loader.so.0"))?,
            loader,
            adapter,
            filter: options.value("filter").map(str::to_owned),
            jobs: options.number("jobs", cores as f64)?.max(1.0) as usize,
        })
    }

    /// Runs the tests of an executable, some at a time.
    fn run(&self, executable: &Executable) -> Outcome<Report> {
        let filter = self.filter.as_deref().unwrap_or("*");
        let tests = executable.tests(self.program(executable), filter)?;
        let next = AtomicUsize::new(0);
        let report = Mutex::new(Report::default());
        let worker = |number: usize| -> Outcome<()> {
            let output = project::path(&format!("target/conform-ur/{number}.txt"));
            project::write(&output, "")?;
            while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                let ending = test.run(self.program(executable), &output)?;
                let name = format!("{} {}", executable.name(), test.name());
                let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(name) = report.add(name, ending) {
                    return Err(Failure::Check(format!("two tests have the name {name}")));
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let start = |number| scope.spawn(move || worker(number));
            let workers: Vec<_> = (0..self.jobs).map(start).collect();
            let broken = || Failure::Check("a thread of the tool broke off".to_owned());
            let mut ends = workers.into_iter().map(ScopedJoinHandle::join);
            ends.try_for_each(|end| end.map_err(|_| broken())?)
        })?;
        Ok(report.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn program(&self, executable: &Executable) -> Program {
        Program::new(executable.path())
            .env("LD_LIBRARY_PATH", &self.loader)
            .env("UR_ADAPTERS_FORCE_LOAD", &self.adapter)
            .env("MILLPOND_THREADS", CORES)
    }
}

fn build() -> Outcome<PathBuf> {
    Program::cargo()
        .args(["build", "-p", "millpond-ur"])
        .run()?;
    Ok(target()?.join("debug/libur_adapter_millpond.so"))
}

/// The generation of a loader: the later ones export more functions.
fn generation(loader: &Path) -> Outcome<&'static str> {
    const LATER: &[u8] = b"urGetDeviceExpProcAddrTable";
    let bytes = fs::read(loader).map_err(Failure::file(loader))?;
    let is_later = bytes.windows(LATER.len()).any(|window| window == LATER);
    Ok(if is_later { "2026" } else { "2025" })
}
