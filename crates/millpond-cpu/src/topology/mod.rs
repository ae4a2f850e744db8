//! What the machine is, as far as this process may use it.
//!
//! Read once, from the scheduler, `/proc`, `/sys` and the control group. What can't be read is
//! left at a cautious value; nothing here fails.

mod caches;
mod limits;

use std::fs;

use millpond_hal::Cache;

pub(crate) use caches::caches_of;

/// Facts about the machine and this process's share of it.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// The processor's name as its maker gives it.
    pub(crate) name: String,
    /// The processor's maker.
    pub(crate) vendor: String,
    /// The numbers of the cores that the calling thread may run on, in order.
    pub(crate) cores: Vec<usize>,
    /// Cores' worth of time that the control group grants, where it limits it.
    pub(crate) quota: Option<usize>,
    /// Bytes of memory that the process may use.
    pub(crate) memory: usize,
}

impl Topology {
    /// Looks at the machine.
    pub(crate) fn read() -> Self {
        let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let limits = limits::Limits::read();
        let field = |key| field(&processor, key).map(ToOwned::to_owned);
        Self {
            name: field("model name").unwrap_or_else(|| "processor".to_owned()),
            vendor: field("vendor_id").unwrap_or_else(|| "unknown".to_owned()),
            cores: allowed_cores(),
            quota: limits.cores,
            memory: parse_kilobytes(&memory, "MemTotal")
                .unwrap_or(usize::MAX >> 17)
                .min(limits.memory.unwrap_or(usize::MAX)),
        }
    }

    /// The data caches that these cores have.
    pub(crate) fn caches(cores: &[usize]) -> Vec<Cache> {
        caches_of(cores, |path| fs::read_to_string(path).ok())
    }
}

/// The value of the first line `key : value`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then_some(value.trim())
    })
}

fn parse_kilobytes(text: &str, key: &str) -> Option<usize> {
    let number = field(text, key)?.strip_suffix("kB")?.trim();
    number.parse::<usize>().ok()?.checked_mul(1024)
}

fn allowed_cores() -> Vec<usize> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        return (0..count).collect();
    };
    (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|&core| set.is_set(core))
        .collect()
}

/// The numbers of a list such as `0-3,8`; what can't be understood is left out.
fn parse_list(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found() {
        let text = "processor\t: 0\nvendor_id\t: Maker\nmodel name\t: Model: 3\n";
        assert_eq!(field(text, "model name"), Some("Model: 3"));
        assert_eq!(field(text, "flags"), None);
        assert_eq!(parse_kilobytes("MemTotal:  2 kB\n", "MemTotal"), Some(2048));
        assert_eq!(parse_kilobytes("MemTotal:  2 MB\n", "MemTotal"), None);
    }

    #[test]
    fn lists_are_parsed() {
        assert_eq!(parse_list("0-2,7\n"), [0, 1, 2, 7]);
        assert_eq!(parse_list(""), [0; 0]);
    }

    #[test]
    fn this_machine_has_a_core_and_memory() {
        let topology = Topology::read();
        assert!(!topology.cores.is_empty());
        assert!(topology.memory > 0);
    }
}
