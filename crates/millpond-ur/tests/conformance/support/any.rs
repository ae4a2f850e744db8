//! Arguments of any sort for functions of any shape.
//!
//! What an argument is, is a letter:
//!
//! | letter | argument |
//! | --- | --- |
//! | `A` adapter, `T` platform, `D` device, `C` context, `Q` queue, `E` event, `P` pool, `B` buffer, `G` program, `L` command buffer, `X` kernel, `Y` physical memory | a handle, most often of this kind |
//! | `h` | a handle, of whatever kind, of what is gone, or no handle at all |
//! | `n` | a small number: a flag, a property, an index, a truth value |
//! | `l`, `y` | a small number of places, or of bytes of a value |
//! | `z`, `p` | a size; one of pages |
//! | `m`, `M`, `a` | an address of memory; of memory of the program; of reserved addresses |
//! | `i`, `s` | a structure that is read: of zeros; with numbers in it |
//! | `t` | a list of places with bytes of the program |
//! | `j`, `c` | one with memory of the program in it; one that describes pools, with others behind it |
//! | `d`, `g` | a number of dimensions; three numbers of items |
//! | `o`, `b` | a place that is written; a size and a place of that size |
//! | `w`, `u`, `H`, `K` | a number of events, of sync points, of handles, of kernel arguments, and where they are |
//! | `f`, `k` | a function that does nothing; its address |
//! | `r` | three numbers by value |

use std::ffi::c_void;

use super::shapes::Triple;

/// Numbers that look random, and are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    /// Those of a number.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    pub(crate) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len())]
    }
}

const SIZES: [usize; 6] = [0, 1, 8, 64, 100, usize::MAX];
const PAGES: [usize; 6] = [0, 1, 4096, 8192, 12288, usize::MAX];
const SMALL: [usize; 10] = [0, 1, 2, 3, 4, 5, 8, 16, 0x2050, 0x2052];
const ITEMS: [usize; 6] = [0, 1, 2, 3, 8, 16];

/// Words that calls read, and words that they write; how many there are for an argument.
const WORDS: usize = 4096;
const APART: usize = 32;
/// Bytes of the program that commands use: more than the sizes above lead to.
const HOST: usize = 8 << 20;
/// Handles that are kept beside those at the beginning.
const KEPT: usize = 48;

/// What arguments are made of.
pub(crate) struct Choices {
    dice: Dice,
    handles: Vec<(char, usize)>,
    /// How many handles there were at the beginning.
    first: usize,
    /// All that calls have made: objects, and memory.
    made: Vec<(char, usize)>,
    had: Vec<usize>,
    memory: Vec<usize>,
    /// Memory from the beginning, of which the offsets of addresses are within.
    lasting: [usize; 2],
    reserved: Vec<usize>,
    read: Vec<usize>,
    written: Vec<usize>,
    host: Vec<u64>,
}

/// What a call answered, and to what.
pub(crate) struct Answer {
    pub(crate) code: u32,
    pub(crate) arguments: Vec<usize>,
    /// Whether it has written anything.
    pub(crate) wrote: bool,
}

extern "C" fn nothing() {}

impl Choices {
    pub(crate) fn new(seed: u64, objects: &[(char, *mut c_void)], memory: *mut c_void) -> Self {
        let mut host = vec![0; HOST / size_of::<u64>()];
        let bytes = host.as_mut_ptr().expose_provenance();
        let memory = memory.expose_provenance();
        let wrong = [
            0,
            0,
            1,
            8,
            usize::MAX,
            bytes,
            objects[0].1.addr() + 8,
            memory,
        ];
        let mut handles: Vec<_> = wrong.map(|number| ('h', number)).to_vec();
        let right = objects
            .iter()
            .map(|(kind, object)| (*kind, object.expose_provenance()));
        handles.extend(right);
        Self {
            dice: Dice(seed | 1),
            first: handles.len(),
            made: Vec::new(),
            had: Vec::new(),
            handles,
            memory: vec![0, bytes, bytes, memory, memory],
            lasting: [bytes, memory],
            reserved: vec![0, bytes, memory],
            read: vec![0; WORDS],
            written: vec![0; WORDS],
            host,
        }
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.dice.roll(sides)
    }

    /// A handle, most often of this kind.
    fn handle(&mut self, kind: char) -> usize {
        let is_meant = |(of, handle): &(char, usize)| (*of == kind).then_some(*handle);
        let meant: Vec<_> = self.handles.iter().filter_map(is_meant).collect();
        if meant.is_empty() || self.dice.roll(12) == 0 {
            return self.dice.one_of(&self.handles).1;
        }
        self.dice.one_of(&meant)
    }

    /// An address in memory, most often its first.
    fn address(&mut self) -> usize {
        let known = if self.dice.roll(6) == 0 {
            &self.reserved
        } else {
            &self.memory
        };
        let base = self.dice.one_of(known);
        let into = self.dice.one_of(&[0, 0, 0, 0, 100, 4090]);
        // Behind the end of what calls made there may be memory of anybody.
        let is_long = self.lasting.contains(&base) || self.reserved.contains(&base);
        match base {
            0 => 0,
            _ if is_long => base + into,
            _ => base,
        }
    }

    /// Where words are that a structure has, or none.
    fn structure(&mut self, at: usize, words: &[usize]) -> usize {
        self.read[at..][..words.len()].copy_from_slice(words);
        let place = self.read[at..].as_mut_ptr().expose_provenance();
        self.dice.one_of(&[0, place, place, place])
    }

    /// A list, and how long it is.
    fn list(&mut self, at: usize, words: &[usize], count: usize) -> [usize; 2] {
        self.read[at..][..words.len()].copy_from_slice(words);
        let place = self.read[at..].as_mut_ptr().expose_provenance();
        self.dice.one_of(&[
            [0, 0],
            [0, 0],
            [count, place],
            [count, place],
            [0, place],
            [count, 0],
        ])
    }

    /// The words of an argument; `at` is where structures of its own may be.
    fn argument(&mut self, kind: char, at: usize) -> Vec<usize> {
        let small = |dice: &mut Dice| dice.one_of(&SMALL);
        match kind {
            'h' => vec![self.dice.one_of(&self.handles).1],
            'A' | 'T' | 'D' | 'C' | 'Q' | 'E' | 'P' | 'B' | 'G' | 'L' | 'X' | 'Y' => {
                vec![self.handle(kind)]
            }
            'n' => vec![small(&mut self.dice)],
            'l' | 'y' => vec![self.dice.one_of(&[0, 1, 2, 3, 4, 8])],
            'z' => vec![self.dice.one_of(&SIZES)],
            'p' => vec![self.dice.one_of(&PAGES)],
            'm' => vec![self.address()],
            // What is listed may be used when other memory is gone.
            'M' => vec![self.dice.one_of(&[0, 1, 1, 1]) * self.lasting[0]],
            'a' => {
                let base = self.dice.one_of(&self.reserved);
                vec![base.wrapping_add(self.dice.one_of(&[0, 0, 0, 1, 4096]))]
            }
            'i' => vec![self.structure(at, &[0; 26])],
            's' => {
                let words = [
                    small(&mut self.dice),
                    0,
                    small(&mut self.dice),
                    small(&mut self.dice),
                ];
                vec![self.structure(at, &words)]
            }
            'j' => {
                let host = self.host.as_mut_ptr().expose_provenance();
                let host = self.dice.one_of(&[0, host]);
                vec![self.structure(at, &[2, 0, host])]
            }
            't' => {
                let host = self.host.as_mut_ptr().expose_provenance();
                vec![self.structure(at, &[host; 3])]
            }
            'c' => vec![self.pool_description(at)],
            'd' => vec![self.dice.one_of(&[0, 1, 2, 3, 4])],
            'g' => {
                let items = [0; 3].map(|_| self.dice.one_of(&ITEMS));
                vec![self.structure(at, &items)]
            }
            'o' => vec![self.place(at)],
            'b' => vec![self.dice.one_of(&[0, 1, 4, 8, 64, 4096]), self.place(at)],
            'u' => {
                let points = self.dice.one_of(&[0, 1, 1 << 32]);
                let count = 1 + self.dice.roll(2);
                self.list(at, &[points], count).to_vec()
            }
            'w' | 'H' => {
                let kind = if kind == 'w' {
                    'E'
                } else {
                    self.dice.one_of(&['D', 'B'])
                };
                let words = [0; 3].map(|_| self.handle(kind));
                let count = 1 + self.dice.roll(3);
                self.list(at, &words, count).to_vec()
            }
            'K' => {
                let kind = self.dice.roll(6);
                let value = self.read.as_mut_ptr().expose_provenance();
                let second = self.handle('B');
                let size = self.dice.one_of(&[0, 1, 8, 64]);
                let one = [0x5000, 0, kind, size, value, 2];
                let other = [0x5000, 0, 2 | 1 << 32, 8, second, 2];
                self.list(at, &[one, other].concat(), 2).to_vec()
            }
            'f' | 'k' => vec![self.dice.one_of(&[0, nothing as extern "C" fn() as usize])],
            'r' => [0; 3].map(|_| self.dice.one_of(&SIZES)).to_vec(),
            other => panic!("no argument is {other}"),
        }
    }

    fn pool_description(&mut self, at: usize) -> usize {
        let behind = self.read[at + 8..].as_mut_ptr().expose_provenance();
        let limits = [11, 0, self.dice.one_of(&SIZES), self.dice.one_of(&SIZES)];
        let buffer = [36, 0, self.address(), 4096, self.dice.roll(5)];
        let next = match self.dice.roll(3) {
            0 => 0,
            1 => {
                self.read[at + 8..][..4].copy_from_slice(&limits);
                behind
            }
            _ => {
                self.read[at + 8..][..6].copy_from_slice(&[&buffer[..], &[0]].concat());
                behind
            }
        };
        let flags = self.dice.roll(9);
        self.structure(at, &[10, next, flags])
    }

    fn place(&mut self, at: usize) -> usize {
        let place = self.written[at..].as_mut_ptr().expose_provenance();
        self.dice.one_of(&[0, place, place, place])
    }

    /// Keeps what a call has made, and forgets what it took away.
    fn learn(&mut self, kinds: &str, arguments: &[usize]) {
        let of_place = kinds[marks(kinds)..].find('o').unwrap_or(0);
        let made = self.written[APART * of_place];
        let mut kinds_of = kinds.chars();
        match kinds_of.next() {
            Some('+') if made != 0 => {
                let made = (kinds_of.next().expect("a kind follows"), made);
                self.made.push(made);
                if self.handles.len() >= self.first + KEPT {
                    let place = self.first + self.dice.roll(KEPT);
                    self.handles[place] = made;
                } else {
                    self.handles.push(made);
                }
            }
            Some('*') if made != 0 => {
                let into = if kinds.contains('p') {
                    &mut self.reserved
                } else {
                    &mut self.memory
                };
                into.push(made);
                self.had.push(made);
            }
            Some('-') => {
                let is_gone = |known: &usize| *known > 8 && arguments.contains(known);
                self.memory.retain(|known| !is_gone(known));
                self.reserved.retain(|known| !is_gone(known));
            }
            _ => {}
        }
    }
}

/// What gives a reference to an object back, by its kind: what others need last.
const RELEASES: [(char, &str); 9] = [
    ('E', "urEventRelease"),
    ('Q', "urQueueRelease"),
    ('L', "urCommandBufferReleaseExp"),
    ('X', "urKernelRelease"),
    ('G', "urProgramRelease"),
    ('B', "urMemRelease"),
    ('P', "urUSMPoolRelease"),
    ('Y', "urPhysicalMemRelease"),
    ('C', "urContextRelease"),
];

impl Choices {
    /// Gives up all that calls have made.
    pub(crate) fn give_up(&self, function: impl Fn(&str) -> *const ()) {
        // SAFETY: a function of a handle and an address, which may be of what is gone.
        let free: extern "C" fn(usize, usize) -> u32 =
            unsafe { std::mem::transmute(function("urUSMFree")) };
        let all = self.handles.iter().chain(&self.made);
        for (_, context) in all.filter(|(of, _)| *of == 'C') {
            for memory in &self.had {
                free(*context, *memory);
            }
        }
        for (kind, name) in RELEASES {
            // SAFETY: a function of a handle, which may be of what is gone.
            let release: extern "C" fn(usize) -> u32 =
                unsafe { std::mem::transmute(function(name)) };
            for (_, handle) in self.made.iter().filter(|(of, _)| *of == kind) {
                while release(*handle) == 0 {}
            }
        }
    }
}

/// Functions whose arguments are numbers and pointers, and those that have structures among them, which are
/// passed apart from the others: it is nothing to a call between which of those they are.
type Any = extern "C" fn(
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> u32;
type WithTriples = extern "C" fn(
    usize,
    usize,
    usize,
    Triple,
    Triple,
    Triple,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
) -> u32;

/// How much of what a function is listed by comes before its arguments.
fn marks(kinds: &str) -> usize {
    match kinds.as_bytes()[0] {
        b'+' => 2,
        b'*' | b'-' | b'~' => 1,
        _ => 0,
    }
}

/// How many words come before the structures that a function has by value; none where it has none.
fn triples(kinds: &str) -> Option<usize> {
    let before = kinds.find('r')?;
    Some(before - marks(kinds))
}

/// Calls a function with arguments of these kinds.
pub(crate) fn call(function: *const (), kinds: &str, choices: &mut Choices) -> Answer {
    choices.written.fill(0);
    let mut words = Vec::new();
    for (index, kind) in kinds[marks(kinds)..].chars().enumerate() {
        words.extend(choices.argument(kind, APART * index));
    }
    let arguments = words.clone();
    words.resize(26, 0);
    let code = if let Some(before) = triples(kinds) {
        let triple = |number: usize| {
            let at = before + 3 * number;
            Triple(words[at] as u64, words[at + 1] as u64, words[at + 2] as u64)
        };
        let triples = [triple(0), triple(1), triple(2)];
        words.drain(before..before + 9);
        // SAFETY: as below, for the functions that have three structures.
        let function = unsafe { std::mem::transmute::<*const (), WithTriples>(function) };
        let [one, two, three] = triples;
        let numbers: [usize; 14] = std::array::from_fn(|index| words[index]);
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = numbers;
        function(a, b, c, one, two, three, d, e, f, g, h, i, j, k, l, m, n)
    } else {
        // SAFETY: a function of numbers and pointers, which are null or lead to bytes of the test, to
        // memory of the device or to nothing; more arguments than it takes do no harm.
        let function = unsafe { std::mem::transmute::<*const (), Any>(function) };
        let numbers: [usize; 17] = std::array::from_fn(|index| words[index]);
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = numbers;
        function(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    };
    if code == 0 {
        choices.learn(kinds, &arguments);
    }
    let wrote = choices.written.iter().any(|&word| word != 0);
    Answer {
        code,
        arguments,
        wrote,
    }
}
