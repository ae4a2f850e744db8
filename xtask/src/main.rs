//! The one tool of the repository: `cargo xtask COMMAND`.
//!
//! Every job of a contributor, a laptop or a build server is one of its commands. Each prints what it does, step by
//! step, and ends with an error that says what to do. It works from a checkout with Rust and Python; what else a
//! command needs goes into `.venv` inside the project.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its user"
)]

mod bench;
mod check;
mod conform;
mod coverage;
mod demo;
mod docs;
mod failure;
mod gate;
mod generate;
mod interop;
mod memcheck;
mod metadata;
mod model;
mod options;
mod project;
mod python_env;
mod run;
mod schedule;
mod soak;
mod test;
mod wheel;

use std::process::ExitCode;

use failure::{Failure, Outcome};

/// A command: its name, its arguments, what it does, and the function that does it.
struct Command {
    name: &'static str,
    usage: &'static str,
    about: &'static str,
    run: fn(&[String]) -> Outcome<()>,
}

/// All commands, in the order in which the help lists them.
const COMMANDS: &[Command] = &[
    Command {
        name: "demo",
        usage: "",
        about: "build and install the wheel, run the terrain example; pictures land in demo-output/",
        run: demo::command,
    },
    Command {
        name: "test",
        usage: "[--rust] [--python] [--simd] [FILTER...]",
        about: "run the Rust and the Python tests; --simd: once for each vector level of this machine",
        run: test::command,
    },
    Command {
        name: "check",
        usage: "[NAME...]",
        about: "run all checks that need no test, or those named",
        run: check::command,
    },
    Command {
        name: "wheel",
        usage: "[--dist] [--zig]",
        about: "build the wheel into target/wheels; --dist: as it is handed out, which takes longer; --zig: for systems with an old C library",
        run: wheel::command,
    },
    Command {
        name: "bench",
        usage: "[GROUP] [--case TEXT] [--peers LIB,LIB] [--rounds N] [--budget SECONDS] [--pools] [--write]",
        about: "measure millpond beside NumPy; --pools: its pools beside classic allocators; --write puts the table into docs/performance.md",
        run: bench::command,
    },
    Command {
        name: "gate",
        usage: "",
        about: "count the instructions of an allocation and its free, fail if they became more; run the bench of pools in short",
        run: gate::command,
    },
    Command {
        name: "conform",
        usage: "PATH [--version VERSION] [--max-examples N] [--jobs N] [--seed N] [--no-float64] [FILTER...]",
        about: "run the public conformance suite of the Array API standard, a clone of which is at PATH",
        run: conform::command,
    },
    #[cfg(unix)]
    Command {
        name: "conform-ur",
        usage: "FOLDER [--loader FOLDER] [--adapter FILE] [--filter FILTER] [--jobs N] [NAME...]",
        about: "run the public conformance executables of the Unified Runtime that were built elsewhere into FOLDER, each test by itself",
        run: conform::ur::command,
    },
    Command {
        name: "coverage",
        usage: "[--minimum PERCENT]",
        about: "measure which lines the tests run, Rust and Python; fail below 90 % and list the lowest files",
        run: coverage::command,
    },
    Command {
        name: "interop",
        usage: "[--newest] [FILTER...]",
        about: "run the tests of exchange with other libraries beside PyTorch as well, whose package brings gigabytes",
        run: interop::command,
    },
    Command {
        name: "memcheck",
        usage: "[--valgrind] [--asan] [--runtime] [--adapter] [--examples]",
        about: "run the runtime's tests, the adapter's and the native examples under Valgrind and AddressSanitizer, which must be installed",
        run: memcheck::command,
    },
    Command {
        name: "model",
        usage: "[NAME...]",
        about: "run what threads share in every order or many, under the model checkers loom and shuttle",
        run: model::command,
    },
    Command {
        name: "schedule",
        usage: "[--steps N] [--seed N]",
        about: "run random programs over pools, of ten million steps in all, under the order checker",
        run: schedule::command,
    },
    Command {
        name: "soak",
        usage: "[--minutes N] [--seed N]",
        about: "use everything for ten minutes and fail if anything is left behind",
        run: soak::command,
    },
    Command {
        name: "docs",
        usage: "",
        about: "make the documentation site in target/site; fail if anything in it leads nowhere",
        run: docs::command,
    },
    Command {
        name: "gen",
        usage: "[--check]",
        about: "write the generated files, of which some need the wheel; --check: fail if one is out of date",
        run: generate::command,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Outcome<()> {
    let Some((name, rest)) = arguments.split_first() else {
        print_help();
        return Ok(());
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") || rest.iter().any(|word| word == "--help")
    {
        print_help();
        return Ok(());
    }
    let command = COMMANDS
        .iter()
        .find(|command| command.name == name)
        .ok_or_else(|| Failure::Usage(format!("there is no command '{name}'")))?;
    (command.run)(rest)
}

fn print_help() {
    println!("cargo xtask COMMAND\n");
    for command in COMMANDS {
        println!("  {} {}", command.name, command.usage);
        println!("      {}", command.about);
    }
}
