//! What the environment may set: the only module of millpond that reads it.
//!
//! | variable | values | meaning |
//! | --- | --- | --- |
//! | `MILLPOND_SIMD` | `baseline`, `avx2`, `avx512` | vector instructions to use, at most |
//! | `MILLPOND_THREADS` | a number | worker threads of each CPU device |
//! | `MILLPOND_CPU_DEVICES` | core lists, `;` between devices: `0-1;2,3` | CPU devices over these cores |
//! | `MILLPOND_CPU_FLOAT64` | `0`, `1`; `;` between devices: `1;0` | whether CPU devices offer `float64`; the last answer is that of all further ones |
//! | `MILLPOND_DEFAULT_FLOAT` | `float32`, `float64` | dtype of floats where a program names none, on devices that have it |
//! | `MILLPOND_VALIDATE` | `1` | check every driver call |
//! | `MILLPOND_CHECK_ORDER` | `1` | check that what uses the same memory is ordered |
//! | `MILLPOND_TRACE_LINES` | `1` | keep the source line of each command for messages |
//! | `MILLPOND_RECORD` | a path | record the default pool of device memory of the default device in the file `PATH.PID`, to be replayed |
//! | `MILLPOND_FUSION` | `0` | run each element-wise operation by itself |
//! | `MILLPOND_HUGE_PAGES` | `0` | don't ask for huge pages |
//! | `MILLPOND_CUDA` | `0`, a path | don't look for NVIDIA devices; the library of NVIDIA's driver, where the system's loader doesn't find it |
//! | `MILLPOND_NVRTC` | a path | the library of NVIDIA's compiler, where neither the system nor a Python package has it |
//! | `MILLPOND_CUBLAS`, `MILLPOND_CUFFT`, `MILLPOND_CUSOLVER` | a path | the libraries of NVIDIA's for products, transforms and decompositions, likewise |
//! | `MILLPOND_CACHE_DIR` | a path | the folder for compiled kernels, in place of `millpond` in `XDG_CACHE_HOME` or `~/.cache` |
//! | `MILLPOND_DEVICE` | a device's name: `cuda:0` | the device that work goes to unless told otherwise |

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::DType;

/// What `MILLPOND_SIMD` may be, lowest first.
pub const SIMD_LEVELS: [&str; 3] = ["baseline", "avx2", "avx512"];

/// The settings, read once.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a variable of its own"
)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// `MILLPOND_SIMD`, as written.
    pub simd: Option<String>,
    /// `MILLPOND_THREADS`.
    pub threads: Option<usize>,
    /// `MILLPOND_CPU_DEVICES`: the cores of each device.
    pub cpu_devices: Option<Vec<Vec<usize>>>,
    /// `MILLPOND_CPU_FLOAT64`: the answer for each device.
    pub cpu_float64: Option<Vec<bool>>,
    /// `MILLPOND_DEFAULT_FLOAT`.
    pub default_float: Option<DType>,
    /// `MILLPOND_VALIDATE`.
    pub validate: bool,
    /// `MILLPOND_CHECK_ORDER`.
    pub check_order: bool,
    /// `MILLPOND_TRACE_LINES`.
    pub trace_lines: bool,
    /// `MILLPOND_RECORD`: the path, without the number of the process.
    pub record: Option<String>,
    /// `MILLPOND_FUSION`.
    pub fusion: bool,
    /// `MILLPOND_HUGE_PAGES`.
    pub huge_pages: bool,
    /// `MILLPOND_CUDA`: whether to look for NVIDIA devices.
    pub cuda: bool,
    /// `MILLPOND_CUDA`: the path of the driver's library.
    pub cuda_library: Option<String>,
    /// `MILLPOND_NVRTC`.
    pub cuda_compiler: Option<String>,
    /// `MILLPOND_CUBLAS`.
    pub cuda_products: Option<String>,
    /// `MILLPOND_CUFFT`.
    pub cuda_transforms: Option<String>,
    /// `MILLPOND_CUSOLVER`.
    pub cuda_solvers: Option<String>,
    /// `MILLPOND_CACHE_DIR`, or where such things belong on the system; `None` without a home.
    pub cache: Option<PathBuf>,
    /// `MILLPOND_DEVICE`.
    pub device: Option<String>,
    /// What was set but could not be understood, each a message.
    pub warnings: Vec<String>,
}

impl Config {
    /// The environment's settings, read at the first call.
    pub fn get() -> &'static Self {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG.get_or_init(|| Self::parse(variable))
    }

    /// The settings that `lookup` gives; for tests and embedding programs.
    pub fn parse(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let mut config = Self {
            fusion: true,
            huge_pages: true,
            cuda: true,
            ..Self::default()
        };
        config.simd = lookup("MILLPOND_SIMD");
        config.record = lookup("MILLPOND_RECORD");
        config.validate = lookup("MILLPOND_VALIDATE").is_some_and(|value| value != "0");
        config.check_order = lookup("MILLPOND_CHECK_ORDER").is_some_and(|value| value != "0");
        config.trace_lines = lookup("MILLPOND_TRACE_LINES").is_some_and(|value| value != "0");
        config.fusion = lookup("MILLPOND_FUSION").is_none_or(|value| value != "0");
        config.huge_pages = lookup("MILLPOND_HUGE_PAGES").is_none_or(|value| value != "0");
        match lookup("MILLPOND_CUDA").as_deref() {
            None => {}
            Some("0") => config.cuda = false,
            Some(path) if path.contains('/') => config.cuda_library = Some(path.to_owned()),
            Some(text) => config.warn("MILLPOND_CUDA", text, "0 or a path"),
        }
        config.cuda_compiler = lookup("MILLPOND_NVRTC");
        config.cuda_products = lookup("MILLPOND_CUBLAS");
        config.cuda_transforms = lookup("MILLPOND_CUFFT");
        config.cuda_solvers = lookup("MILLPOND_CUSOLVER");
        config.device = lookup("MILLPOND_DEVICE");
        config.cache = lookup("MILLPOND_CACHE_DIR").map(PathBuf::from).or_else(|| {
            let home = lookup("HOME").map(|home| Path::new(&home).join(".cache"));
            let caches = lookup("XDG_CACHE_HOME").map(PathBuf::from).or(home);
            caches.map(|caches| caches.join("millpond"))
        });
        if let Some(level) = config
            .simd
            .take_if(|level| !SIMD_LEVELS.contains(&level.as_str()))
        {
            config.warn("MILLPOND_SIMD", &level, &SIMD_LEVELS.join(", "));
        }
        if let Some(text) = lookup("MILLPOND_THREADS") {
            match text.parse::<usize>() {
                Ok(threads) if threads > 0 => config.threads = Some(threads),
                _ => config.warn("MILLPOND_THREADS", &text, "a positive number"),
            }
        }
        if let Some(text) = lookup("MILLPOND_CPU_DEVICES") {
            match text.split(';').map(parse_cores).collect() {
                Some(devices) => config.cpu_devices = Some(devices),
                None => config.warn("MILLPOND_CPU_DEVICES", &text, "core lists such as 0-1;2,3"),
            }
        }
        if let Some(text) = lookup("MILLPOND_CPU_FLOAT64") {
            match text.split(';').map(parse_switch).collect() {
                Some(answers) => config.cpu_float64 = Some(answers),
                None => config.warn("MILLPOND_CPU_FLOAT64", &text, "0 or 1 for each device"),
            }
        }
        if let Some(text) = lookup("MILLPOND_DEFAULT_FLOAT") {
            match text.parse() {
                Ok(dtype @ (DType::Float32 | DType::Float64)) => {
                    config.default_float = Some(dtype);
                }
                _ => config.warn("MILLPOND_DEFAULT_FLOAT", &text, "float32 or float64"),
            }
        }
        config
    }

    fn warn(&mut self, name: &str, value: &str, expected: &str) {
        self.warnings
            .push(format!("{name}='{value}' is ignored: expected {expected}"));
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the module that reads the environment"
)]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn parse_switch(text: &str) -> Option<bool> {
    match text.trim() {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn parse_cores(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part
            .trim()
            .split_once('-')
            .unwrap_or((part.trim(), part.trim()));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if last < first || last - first > 4096 {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_lists_are_parsed() {
        let config =
            Config::parse(|name| (name == "MILLPOND_CPU_DEVICES").then(|| "0-1; 2,5".to_owned()));
        assert_eq!(config.cpu_devices, Some(vec![vec![0, 1], vec![2, 5]]));
        assert!(config.warnings.is_empty());
    }

    #[test]
    fn float_settings_are_parsed_and_nonsense_reported() {
        let set = |float64: &'static str, default: &'static str| {
            Config::parse(move |name| match name {
                "MILLPOND_CPU_FLOAT64" => Some(float64.to_owned()),
                "MILLPOND_DEFAULT_FLOAT" => Some(default.to_owned()),
                _ => None,
            })
        };
        let config = set("1; 0", "float32");
        assert_eq!(config.cpu_float64, Some(vec![true, false]));
        assert_eq!(config.default_float, Some(DType::Float32));
        let config = set("yes", "float16");
        assert_eq!((config.cpu_float64, config.default_float), (None, None));
        assert_eq!(config.warnings.len(), 2);
    }

    #[test]
    fn cuda_is_looked_for_where_the_user_says() {
        let set = |text: &'static str| {
            Config::parse(move |name| (name == "MILLPOND_CUDA").then(|| text.to_owned()))
        };
        assert!(Config::parse(|_| None).cuda);
        assert!(!set("0").cuda);
        let config = set("/opt/libcuda.so.1");
        assert!(config.cuda);
        assert_eq!(config.cuda_library.as_deref(), Some("/opt/libcuda.so.1"));
        let config = set("yes");
        assert_eq!((config.cuda, config.cuda_library), (true, None));
        assert_eq!(config.warnings.len(), 1);
    }

    #[test]
    fn kernels_are_kept_where_the_user_says_or_where_caches_belong() {
        let variables = [
            ("MILLPOND_CACHE_DIR", "/own"),
            ("XDG_CACHE_HOME", "/caches"),
            ("HOME", "/home/a"),
        ];
        // With all of them, and then without the first ones.
        let cache = |from: usize| {
            let set = |name: &str| variables[from..].iter().find(|(known, _)| *known == name);
            Config::parse(|name| set(name).map(|(_, value)| (*value).to_owned())).cache
        };
        let expected = ["/own", "/caches/millpond", "/home/a/.cache/millpond"];
        for (from, path) in expected.iter().enumerate() {
            assert_eq!(cache(from), Some(PathBuf::from(path)));
        }
        assert_eq!(cache(variables.len()), None);
    }

    #[test]
    fn unknown_levels_are_reported() {
        let config = Config::parse(|name| (name == "MILLPOND_SIMD").then(|| "sse9".to_owned()));
        assert_eq!(config.simd, None);
        assert!(
            config.warnings[0].contains("'sse9'"),
            "{:?}",
            config.warnings
        );
    }

    #[test]
    fn nonsense_is_reported() {
        let config = Config::parse(|name| (name == "MILLPOND_THREADS").then(|| "many".to_owned()));
        assert_eq!(config.threads, None);
        assert_eq!(config.warnings.len(), 1);
    }
}
