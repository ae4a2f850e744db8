//! Another process: this program once more, which does what lines on its standard input say and
//! answers each with a line on its standard error, since the test harness writes to the other.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, ChildStdin, Command, Stdio};

use millpond_runtime::{Allocation, Export, MemoryHandle, Pool};

use crate::{exported, fill, import, open, pool, read};

/// Says to the program what it is.
const ROLE: &str = "MILLPOND_TEST_PARTNER";

/// A process that serves this one; it is killed when this is dropped.
pub(crate) struct Partner {
    process: Child,
    input: ChildStdin,
    answers: BufReader<std::process::ChildStderr>,
}

impl Partner {
    pub(crate) fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "partner::serve", "--nocapture"])
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stderr.take().unwrap()),
            process,
        }
    }

    fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        let answer = answer.trim_end();
        match answer.strip_prefix("= ") {
            Some(answer) => answer.to_owned(),
            None => panic!("'{line}' is answered by '{answer}'"),
        }
    }

    /// Has it open what this process exports; the number by which it knows the memory.
    pub(crate) fn open(&mut self, export: &Export) -> usize {
        self.open_as(&whereabouts(export))
    }

    /// The same, of a third process.
    pub(crate) fn open_as(&mut self, whereabouts: &str) -> usize {
        self.ask(&format!("open {whereabouts}")).parse().unwrap()
    }

    /// Has it export new memory, full of a byte.
    pub(crate) fn export(&mut self, bytes: usize, byte: u8) -> String {
        self.ask(&format!("export {bytes} {byte}"))
    }

    /// Has it export as many blocks of one pool.
    pub(crate) fn export_blocks(&mut self, count: usize, bytes: usize) -> Vec<String> {
        let answer = self.ask(&format!("blocks {count} {bytes}"));
        answer.split(';').map(str::to_owned).collect()
    }

    /// The byte that memory is full of, as it sees it.
    pub(crate) fn read(&mut self, number: usize) -> u8 {
        self.ask(&format!("read {number}")).parse().unwrap()
    }

    pub(crate) fn fill(&mut self, number: usize, byte: u8) {
        self.ask(&format!("fill {number} {byte}"));
    }

    /// Has it let go of all memory, and of all that it exports.
    pub(crate) fn close_all(&mut self) {
        self.ask("close");
    }

    /// How many descriptors, and how many mappings of arenas, it has.
    pub(crate) fn counts(&mut self) -> (usize, usize) {
        let answer = self.ask("counts");
        let (descriptors, mappings) = answer.split_once(' ').unwrap();
        (descriptors.parse().unwrap(), mappings.parse().unwrap())
    }

    /// Ends it as a crash does.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A handle in digits, and where its descriptor is to be had.
pub(crate) fn whereabouts(export: &Export) -> String {
    let mut digits = String::new();
    for byte in export.handle().to_bytes() {
        write!(digits, "{byte:02x}").unwrap();
    }
    let descriptor = export.as_fd().as_raw_fd();
    format!("{digits} /proc/{}/fd/{descriptor}", std::process::id())
}

/// The handle that digits say, and the path.
pub(crate) fn parse(whereabouts: &str) -> (MemoryHandle, &str) {
    let (digits, path) = whereabouts.split_once(' ').unwrap();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
    (MemoryHandle::from_bytes(&bytes).unwrap(), path)
}

/// How many mappings of arenas this process has.
fn mappings() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let of_arenas = maps.lines().filter(|line| line.contains("/memfd:millpond"));
    of_arenas.count()
}

/// The other process, which it is only where a test has started it as such.
#[test]
fn serve() {
    if std::env::var_os(ROLE).is_none() {
        return;
    }
    let queue = crate::support::device().default_queue().unwrap();
    let mut memory: Vec<Allocation> = Vec::new();
    let mut exports: Vec<Export> = Vec::new();
    let mut pools: Vec<Pool> = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (verb, rest) = line.split_once(' ').unwrap_or((&line, ""));
        let number = |at: usize| rest.split(' ').nth(at).unwrap().parse::<usize>().unwrap();
        let answer = match verb {
            "open" => {
                let (handle, path) = parse(rest);
                let file = open(path);
                memory.push(import(&queue, &handle, file.as_fd()).unwrap());
                (memory.len() - 1).to_string()
            }
            "export" => {
                exports.push(exported(&queue, number(0), number(1) as u8));
                whereabouts(exports.last().unwrap())
            }
            "blocks" => {
                let pool = pool(queue.device());
                for _ in 0..number(0) {
                    let block = queue.allocate_from(&pool, number(1)).unwrap();
                    exports.push(block.export(0..number(1)).unwrap());
                }
                pools.push(pool);
                let all: Vec<String> = exports.iter().map(whereabouts).collect();
                all.join(";")
            }
            "read" => read(&memory[number(0)]).to_string(),
            "fill" => {
                fill(&memory[number(0)], number(1) as u8);
                "filled".to_owned()
            }
            "close" => {
                memory.clear();
                exports.clear();
                pools.clear();
                queue.wait().unwrap();
                "closed".to_owned()
            }
            "counts" => {
                let descriptors = std::fs::read_dir("/proc/self/fd").unwrap().count();
                format!("{descriptors} {}", mappings())
            }
            _ => panic!("'{line}' means nothing"),
        };
        writeln!(std::io::stderr(), "= {answer}").unwrap();
    }
    // Nobody is there any more who would look at results.
    std::process::exit(0);
}
