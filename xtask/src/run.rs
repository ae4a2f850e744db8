//! Runs programs, in steps whose beginning, end and duration are printed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::failure::{Failure, Outcome};
use crate::project;
use crate::python_env;

/// How often is looked whether a program ended that may be ended.
const LOOK: Duration = Duration::from_millis(2);

/// Does `work` as a step: says when it begins, and how long it took.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    println!("step: {name}");
    let begin = Instant::now();
    let result = work();
    let verdict = if result.is_ok() { "done" } else { "FAILED" };
    println!("{verdict}: {name} ({:.1} s)", begin.elapsed().as_secs_f64());
    result
}

/// A program to run, in the project's root unless told otherwise.
#[derive(Debug)]
pub(crate) struct Program {
    command: Command,
}

impl Program {
    /// A program by name or path.
    pub(crate) fn new(program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.current_dir(project::root());
        Self { command }
    }

    /// Cargo. Build scripts see the Python of `.venv`, so that all commands share what they build.
    pub(crate) fn cargo() -> Self {
        let python = python_env::venv_python();
        let cargo = Self::new(option_env!("CARGO").unwrap_or("cargo"));
        if python.exists() {
            cargo.env("PYO3_PYTHON", python)
        } else {
            cargo
        }
    }

    /// Appends arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.command.args(arguments);
        self
    }

    /// Appends one argument.
    pub(crate) fn arg(self, argument: impl AsRef<OsStr>) -> Self {
        self.args([argument])
    }

    /// Sets an environment variable.
    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Sets environment variables.
    pub(crate) fn envs(mut self, variables: &[(String, OsString)]) -> Self {
        self.command
            .envs(variables.iter().map(|(name, value)| (name, value)));
        self
    }

    /// Runs in another folder.
    pub(crate) fn within(mut self, folder: impl AsRef<Path>) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Runs to the end with its output on the terminal; gives the exit code.
    pub(crate) fn code(mut self) -> Outcome<i32> {
        let status = self.command.status().map_err(|source| self.start(source))?;
        Ok(status.code().unwrap_or(-1))
    }

    /// Runs to the end with its output on the terminal.
    pub(crate) fn run(mut self) -> Outcome<()> {
        let status = self.command.status().map_err(|source| self.start(source))?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::Program {
            line: self.line(),
            status: status.to_string(),
        })
    }

    /// Runs to the end and gives its standard output; its errors stay on the terminal.
    pub(crate) fn output(mut self) -> Outcome<String> {
        self.command.stderr(Stdio::inherit());
        let output = self.command.output().map_err(|source| self.start(source))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(Failure::Program {
            line: self.line(),
            status: output.status.to_string(),
        })
    }

    /// Runs to the end silently; gives its standard output if it started and succeeded.
    pub(crate) fn probe(mut self) -> Option<String> {
        let output = self.command.output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Runs to the end, or is ended after some time, with all that it prints in a file; how it ended by itself.
    pub(crate) fn ended(mut self, limit: Duration, output: &Path) -> Outcome<Option<ExitStatus>> {
        let file = File::create(output).map_err(Failure::file(output))?;
        let errors = file.try_clone().map_err(Failure::file(output))?;
        self.command
            .stdin(Stdio::null())
            .stdout(file)
            .stderr(errors);
        let begin = Instant::now();
        let mut child = self.command.spawn().map_err(|source| self.start(source))?;
        loop {
            if let Some(status) = child.try_wait().map_err(|source| self.start(source))? {
                return Ok(Some(status));
            }
            if begin.elapsed() > limit {
                child.kill().map_err(|source| self.start(source))?;
                child.wait().map_err(|source| self.start(source))?;
                return Ok(None);
            }
            thread::sleep(LOOK);
        }
    }

    fn line(&self) -> String {
        let mut line = self.command.get_program().to_string_lossy().into_owned();
        for argument in self.command.get_args() {
            line.push(' ');
            line.push_str(&argument.to_string_lossy());
        }
        line
    }

    fn start(&self, source: std::io::Error) -> Failure {
        Failure::Start {
            program: self.command.get_program().to_string_lossy().into_owned(),
            source,
        }
    }
}
