//! What the control group of the process lets it use.
//!
//! A limit anywhere on the way up the hierarchy counts; the smallest holds. Both versions of
//! control groups are understood.

use std::fs;

const MOUNT: &str = "/sys/fs/cgroup";

/// The limits that are set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of memory.
    pub(crate) memory: Option<usize>,
    /// Cores' worth of time, rounded up.
    pub(crate) cores: Option<usize>,
}

impl Limits {
    /// Those of this process.
    pub(crate) fn read() -> Self {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::of(&groups, |path| fs::read_to_string(path).ok())
    }

    /// Those of a process with this list of groups, where `read` answers the content of a file.
    fn of(groups: &str, read: impl Fn(&str) -> Option<String>) -> Self {
        let mut limits = Self::default();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
                continue;
            };
            let has = |name| controllers.split(',').any(|controller| controller == name);
            for group in upwards(path) {
                if controllers.is_empty() {
                    let file = |name: &str| read(&format!("{MOUNT}{group}/{name}"));
                    limits.lower_memory(file("memory.max"));
                    if let Some(text) = file("cpu.max") {
                        let mut numbers = text.split_whitespace();
                        limits.lower_cores(numbers.next(), numbers.next());
                    }
                }
                if has("memory") {
                    let path = format!("{MOUNT}/memory{group}/memory.limit_in_bytes");
                    limits.lower_memory(read(&path));
                }
                if has("cpu") {
                    let file = |name: &str| read(&format!("{MOUNT}/cpu{group}/{name}"));
                    let quota = file("cpu.cfs_quota_us");
                    let period = file("cpu.cfs_period_us");
                    limits.lower_cores(quota.as_deref(), period.as_deref());
                }
            }
        }
        limits
    }

    /// `max` and the like don't parse, and mean no limit.
    fn lower_memory(&mut self, text: Option<String>) {
        let bytes = text.and_then(|text| text.trim().parse::<usize>().ok());
        self.memory = [self.memory, bytes].into_iter().flatten().min();
    }

    fn lower_cores(&mut self, quota: Option<&str>, period: Option<&str>) {
        let number = |text: Option<&str>| text?.trim().parse::<usize>().ok();
        if let (Some(quota), Some(period @ 1..)) = (number(quota), number(period)) {
            let cores = Some(quota.div_ceil(period).max(1));
            self.cores = [self.cores, cores].into_iter().flatten().min();
        }
    }
}

/// A group and those around it, from the inside out; the outermost is the empty path.
fn upwards(path: &str) -> impl Iterator<Item = &str> {
    let path = path.trim_end_matches('/');
    std::iter::successors(Some(path), |inner| {
        inner.rsplit_once('/').map(|(outer, _)| outer)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_limit_on_the_way_up_holds() {
        let limits = Limits::of("0::/outer/inner\n", |path| {
            let text = match path {
                "/sys/fs/cgroup/outer/inner/memory.max" => "max\n",
                "/sys/fs/cgroup/outer/memory.max" => "1000000\n",
                "/sys/fs/cgroup/outer/inner/cpu.max" => "250000 100000\n",
                "/sys/fs/cgroup/outer/cpu.max" => "max 100000\n",
                _ => return None,
            };
            Some(text.to_owned())
        });
        let expected = Limits {
            memory: Some(1_000_000),
            cores: Some(3),
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn version_one_is_understood() {
        let limits = Limits::of("4:cpu,cpuacct:/\n7:memory:/box\n", |path| {
            let text = match path {
                "/sys/fs/cgroup/memory/box/memory.limit_in_bytes" => "4096\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_quota_us" => "-1\n",
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us" => "100000\n",
                _ => return None,
            };
            Some(text.to_owned())
        });
        let expected = Limits {
            memory: Some(4096),
            cores: None,
        };
        assert_eq!(limits, expected);
    }

    #[test]
    fn no_groups_no_limits() {
        assert_eq!(Limits::of("", |_| None), Limits::default());
    }
}
