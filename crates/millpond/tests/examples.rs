//! Every example runs, one after the other: they share the devices of the process, whose pools
//! some of them look at.

macro_rules! examples {
    ($($name:ident $path:literal;)*) => {
        $( #[path = $path] mod $name; )*

        const EXAMPLES: &[(&str, fn() -> Result<(), Box<dyn std::error::Error>>)] =
            &[$( ($path, $name::main) ),*];
    };
}

examples! {
    devices "../examples/01_devices.rs";
    buffers "../examples/02_buffers.rs";
    order "../examples/03_order.rs";
    events "../examples/04_events.rs";
    failures "../examples/05_failures.rs";
    pools "../examples/06_pools.rs";
    tensors "../examples/07_tensors.rs";
    foreign_memory "../examples/08_foreign_memory.rs";
    own_pool "../examples/09_own_pool.rs";
    graphs "../examples/10_graphs.rs";
    processes "../examples/11_processes.rs";
    recordings "../examples/12_recordings.rs";
}

#[test]
fn all_examples_run() {
    for (path, example) in EXAMPLES {
        if let Err(error) = example() {
            panic!("{path}: {error}");
        }
    }
}

/// What the example of two processes starts: this program once more.
#[test]
#[allow(clippy::disallowed_methods, reason = "a message, not a setting")]
fn the_other_process() {
    if std::env::var_os(processes::HANDLE).is_some() {
        processes::main().unwrap();
    }
}

#[test]
fn all_examples_are_listed() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let files = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(files, EXAMPLES.len());
}

#[test]
fn all_examples_keep_the_rules_of_drivers() {
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program)
        .args(["--exact", "all_examples_run"])
        .env("MILLPOND_VALIDATE", "1")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("1 passed"), "{printed}");
}
