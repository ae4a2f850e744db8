//! What the environment sets reaches the devices; each case is a process of its own.

use std::process::Command;

/// What the devices of a process say that has these settings.
fn report_with(settings: &[(&str, &str)]) -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let output = Command::new(program)
        .args(["--exact", "report", "--ignored", "--nocapture"])
        .envs(settings.iter().copied())
        .output()
        .ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(printed)
}

#[test]
#[ignore = "the others run it, each in a process of its own"]
fn report() {
    for device in millpond::devices() {
        let info = device.info();
        println!("{device}: threads {}, level {}.", info.threads, info.simd);
    }
    let queue = millpond::default_device().unwrap().default_queue().unwrap();
    let mut buffer = millpond::Buffer::zeroed(&queue, millpond::MemoryKind::Device, 1).unwrap();
    queue
        .call("one", (&mut buffer,), |(buffer,)| buffer[0] = 1)
        .unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [1_i32]);
}

#[test]
fn without_settings_there_is_one_cpu() {
    let printed = report_with(&[("MILLPOND_CPU_DEVICES", "")]).unwrap();
    assert!(printed.contains("cpu: "), "{printed}");
}

#[test]
fn cores_are_divided_among_devices() {
    let printed = report_with(&[("MILLPOND_CPU_DEVICES", "0;0")]).unwrap();
    assert!(
        printed.contains("cpu:0: ") && printed.contains("cpu:1: "),
        "{printed}"
    );
}

#[test]
fn threads_are_as_many_as_set() {
    let printed = report_with(&[("MILLPOND_THREADS", "3")]).unwrap();
    assert!(printed.contains("threads 3,"), "{printed}");
}

#[test]
fn the_vector_level_is_as_set() {
    let printed = report_with(&[("MILLPOND_SIMD", "baseline")]).unwrap();
    assert!(printed.contains("level baseline."), "{printed}");
}

#[test]
fn settings_that_make_no_sense_are_ignored() {
    let settings = [("MILLPOND_SIMD", "sse9"), ("MILLPOND_THREADS", "many")];
    let printed = report_with(&settings).unwrap();
    assert!(printed.contains("threads "), "{printed}");
}
