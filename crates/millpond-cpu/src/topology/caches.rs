//! The data caches of a set of cores.

use millpond_hal::Cache;

use super::parse_list;

/// The caches that the first of the cores sees, nearest first, each with the number of the given
/// cores that share it. `read` answers the content of a file.
pub(crate) fn caches_of(cores: &[usize], read: impl Fn(&str) -> Option<String>) -> Vec<Cache> {
    let Some(first) = cores.first() else {
        return Vec::new();
    };
    let mut caches = Vec::new();
    for index in 0.. {
        let entry = |name: &str| {
            read(&format!(
                "/sys/devices/system/cpu/cpu{first}/cache/index{index}/{name}"
            ))
        };
        let Some(kind) = entry("type") else { break };
        if !matches!(kind.trim(), "Data" | "Unified") {
            continue;
        }
        let level = entry("level").and_then(|text| text.trim().parse().ok());
        let bytes = entry("size").and_then(|text| parse_size(&text));
        if let (Some(level), Some(bytes)) = (level, bytes) {
            let sharers = parse_list(&entry("shared_cpu_list").unwrap_or_default());
            let shared_by = cores.iter().filter(|core| sharers.contains(core)).count();
            caches.push(Cache {
                level,
                bytes,
                shared_by: shared_by.max(1),
            });
        }
    }
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// A size such as `512K`.
fn parse_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (digits, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        b'G' => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_caches_are_listed_nearest_first() {
        let files = |path: &str| {
            let (index, name) = path.rsplit_once("/index")?.1.split_once('/')?;
            let row = match index {
                "0" => ["Unified", "3", "32M", "0-7"],
                "1" => ["Instruction", "1", "32K", "2"],
                "2" => ["Data", "1", "48K", "2"],
                _ => return None,
            };
            let column = ["type", "level", "size", "shared_cpu_list"]
                .iter()
                .position(|&known| known == name)?;
            Some(format!("{}\n", row[column]))
        };
        let cache = |level, bytes, shared_by| Cache {
            level,
            bytes,
            shared_by,
        };
        assert_eq!(
            caches_of(&[2, 3, 9], files),
            [cache(1, 48 << 10, 1), cache(3, 32 << 20, 2)]
        );
        assert_eq!(caches_of(&[], files), []);
    }

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(parse_size("512K\n"), Some(512 << 10));
        assert_eq!(parse_size("64"), Some(64));
        assert_eq!(parse_size("lots"), None);
    }
}
