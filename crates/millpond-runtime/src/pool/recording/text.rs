//! Recordings as text: one step a line, read and written a line at a time.
//!
//! ```text
//! millpond pool recording 3
//! queue 3:17 in-order
//! allocate 7f0000000000 3:17 1048576 align 4096 after 4:2,5:9 tag tenant/request
//! follow 3:18 after 4:12,5:9
//! refuse 3:18 4194304 wait no
//! free 7f0000000000 uses 3:18w,4:14r
//! free 7f0000200000 on 3:20 after 4:12 uses 3:19w
//! wait 3:20
//! ```
//!
//! A point is the number of a queue and of a command on it; of a use it is followed by `w` if the
//! command wrote, else by `r`. What has its usual value is left out. Version 2 had no refused
//! requests, and doesn't say how memory was used. Version 1, which had `allocate ID QUEUE BYTES`, `free ID` and `wait QUEUE`, is read too: it knows
//! no uses, so that each allocation counts as used once, by its queue.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, Write};

use crate::error::{Error, Result};
use crate::pool::recording::{RecordedPoint, RecordedUse, Step};

/// The first line of a recording's text.
pub(super) const HEADER: &str = "millpond pool recording 3";
const SECOND_HEADER: &str = "millpond pool recording 2";
const FIRST_HEADER: &str = "millpond pool recording 1";

/// Longest line that is read: a step has a point for each queue at most, and a name.
const LONGEST: usize = 1 << 20;

pub(super) fn write_header(writer: &mut impl Write) -> io::Result<()> {
    writeln!(writer, "{HEADER}")
}

impl fmt::Display for RecordedPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.queue, self.sequence)
    }
}

impl fmt::Display for RecordedUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let access = self
            .writes
            .map_or("", |writes| if writes { "w" } else { "r" });
        write!(f, "{}{access}", self.at)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue { at, in_order } => {
                let order = if *in_order {
                    "in-order"
                } else {
                    "out-of-order"
                };
                write!(f, "queue {at} {order}")
            }
            Self::Allocate {
                id,
                at,
                bytes,
                alignment,
                after,
                tag,
            } => {
                write!(f, "allocate {id:x} {at} {bytes}")?;
                write_alignment(f, *alignment)?;
                write_points(f, "after", after)?;
                write_tag(f, tag.as_deref())
            }
            Self::Refuse {
                at,
                bytes,
                alignment,
                after,
                may_wait,
                tag,
            } => {
                write!(f, "refuse {at} {bytes}")?;
                write_alignment(f, *alignment)?;
                write_points(f, "after", after)?;
                if !may_wait {
                    f.write_str(" wait no")?;
                }
                write_tag(f, tag.as_deref())
            }
            Self::Free {
                id,
                on,
                after,
                uses,
            } => {
                write!(f, "free {id:x}")?;
                if let Some(point) = on {
                    write!(f, " on {point}")?;
                }
                write_points(f, "after", after)?;
                write_points(f, "uses", uses)
            }
            Self::Follow { at, after } => {
                write!(f, "follow {at}")?;
                write_points(f, "after", after)
            }
            Self::Wait { at } => write!(f, "wait {at}"),
        }
    }
}

fn write_alignment(f: &mut fmt::Formatter<'_>, alignment: usize) -> fmt::Result {
    if alignment == 1 {
        return Ok(());
    }
    write!(f, " align {alignment}")
}

fn write_tag(f: &mut fmt::Formatter<'_>, tag: Option<&str>) -> fmt::Result {
    tag.map_or(Ok(()), |tag| write!(f, " tag {}", escaped(tag)))
}

fn write_points(
    f: &mut fmt::Formatter<'_>,
    word: &str,
    points: &[impl fmt::Display],
) -> fmt::Result {
    for (index, point) in points.iter().enumerate() {
        if index == 0 {
            write!(f, " {word} {point}")?;
        } else {
            write!(f, ",{point}")?;
        }
    }
    Ok(())
}

/// A name without ends of lines.
fn escaped(name: &str) -> String {
    let name = name.replace('\\', "\\\\");
    name.replace('\n', "\\n").replace('\r', "\\r")
}

fn unescaped(text: &str) -> Option<String> {
    let mut name = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        name.push(match letter {
            '\\' => match letters.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            letter => letter,
        });
    }
    Some(name)
}

/// Reads steps, one line after the other.
pub(super) struct Reader<R> {
    source: R,
    number: usize,
    /// Of a text of version 1, how many allocations each queue had.
    counts: Option<HashMap<u64, u64>>,
    /// And what stands for the one use of those that are alive.
    uses: HashMap<usize, RecordedUse>,
}

impl<R: BufRead> Reader<R> {
    pub(super) fn new(source: R) -> Result<Self> {
        let mut reader = Self {
            source,
            number: 0,
            counts: None,
            uses: HashMap::new(),
        };
        let first = reader.line()?.unwrap_or_default();
        reader.number = 1;
        match first.trim_end() {
            HEADER | SECOND_HEADER => {}
            FIRST_HEADER => reader.counts = Some(HashMap::new()),
            first => {
                let newer = first.strip_prefix("millpond pool recording ");
                return Err(newer.map_or_else(
                    || reader.invalid(first),
                    |version| Error::Invalid {
                        what: "reading a recording",
                        reason: format!("line 1: version '{version}' is not one of 1 to 3"),
                    },
                ));
            }
        }
        Ok(reader)
    }

    /// The next line, with its end; none behind the last.
    fn line(&mut self) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        let mut limited = io::Read::take(&mut self.source, LONGEST as u64);
        limited
            .read_until(b'\n', &mut bytes)
            .map_err(|error| Error::io("reading a recording", &error))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        String::from_utf8(bytes)
            .map(Some)
            .map_err(|error| self.invalid(&String::from_utf8_lossy(error.as_bytes())))
    }

    fn invalid(&self, line: &str) -> Error {
        const SHOWN: usize = 80;
        let line: String = line.trim_end().chars().take(SHOWN).collect();
        Error::Invalid {
            what: "reading a recording",
            reason: format!("line {}: '{line}'", self.number),
        }
    }

    fn parse(&mut self, line: &str) -> Option<Step> {
        match &mut self.counts {
            None => parse(line),
            Some(counts) => parse_first(line, counts, &mut self.uses),
        }
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Step>;

    fn next(&mut self) -> Option<Result<Step>> {
        let line = match self.line() {
            Ok(line) => line?,
            Err(error) => return Some(Err(error)),
        };
        let Some(whole) = line.strip_suffix('\n') else {
            // The writer was stopped in the middle of its last line: who knows how it ends.
            let is_last = line.len() < LONGEST;
            return (!is_last).then(|| Err(self.invalid(&line)));
        };
        let step = self.parse(whole);
        Some(step.ok_or_else(|| self.invalid(whole)))
    }
}

fn parse(line: &str) -> Option<Step> {
    let (line, tag) = match line.split_once(" tag ") {
        Some((line, tag)) => (line, Some(unescaped(tag)?.into())),
        None => (line, None),
    };
    let mut words = Words(line.split(' '));
    let step = match words.next()? {
        "queue" => Step::Queue {
            at: words.point()?,
            in_order: match words.next()? {
                "in-order" => true,
                "out-of-order" => false,
                _ => return None,
            },
        },
        "allocate" => {
            let (id, at, bytes) = (words.id()?, words.point()?, words.number()?);
            let [alignment, after] = words.optional(["align", "after"])?;
            Step::Allocate {
                id,
                at,
                bytes,
                alignment: alignment.map_or(Some(1), |word| word.parse().ok())?,
                after: list(after, point)?,
                tag: tag.clone(),
            }
        }
        "refuse" => {
            let (at, bytes) = (words.point()?, words.number()?);
            let [alignment, after, wait] = words.optional(["align", "after", "wait"])?;
            Step::Refuse {
                at,
                bytes,
                alignment: alignment.map_or(Some(1), |word| word.parse().ok())?,
                after: list(after, point)?,
                may_wait: match wait {
                    None => true,
                    Some("no") => false,
                    Some(_) => return None,
                },
                tag: tag.clone(),
            }
        }
        "free" => {
            let id = words.id()?;
            let [on, after, uses] = words.optional(["on", "after", "uses"])?;
            Step::Free {
                id,
                on: on.map_or(Some(None), |word| point(word).map(Some))?,
                after: list(after, point)?,
                uses: list(uses, use_)?,
            }
        }
        "follow" => {
            let at = words.point()?;
            let [after] = words.optional(["after"])?;
            Step::Follow {
                at,
                after: list(after, point)?,
            }
        }
        "wait" => Step::Wait { at: words.point()? },
        _ => return None,
    };
    let has_place = tag.is_none() || matches!(step, Step::Allocate { .. } | Step::Refuse { .. });
    (has_place && words.next().is_none()).then_some(step)
}

fn parse_first(
    line: &str,
    counts: &mut HashMap<u64, u64>,
    uses: &mut HashMap<usize, RecordedUse>,
) -> Option<Step> {
    let mut words = Words(line.split(' '));
    let step = match words.next()? {
        "allocate" => {
            let (id, queue, bytes) = (words.id()?, words.number()?, words.number()?);
            let count = counts.entry(queue).or_default();
            let at = RecordedPoint {
                queue,
                sequence: *count,
            };
            *count += 1;
            let sequence = *count;
            let last = RecordedPoint { queue, sequence };
            uses.insert(
                id,
                RecordedUse {
                    at: last,
                    writes: None,
                },
            );
            Step::Allocate {
                id,
                at,
                bytes,
                alignment: 1,
                after: Vec::new(),
                tag: None,
            }
        }
        "free" => {
            let id = words.id()?;
            Step::Free {
                id,
                on: None,
                after: Vec::new(),
                uses: uses.remove(&id).into_iter().collect(),
            }
        }
        "wait" => {
            let queue = words.number()?;
            let sequence = counts.get(&queue).copied().unwrap_or_default();
            let at = RecordedPoint { queue, sequence };
            Step::Wait { at }
        }
        _ => return None,
    };
    words.next().is_none().then_some(step)
}

struct Words<'a>(std::str::Split<'a, char>);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        self.0.next()
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn id(&mut self) -> Option<usize> {
        usize::from_str_radix(self.next()?, 16).ok()
    }

    fn point(&mut self) -> Option<RecordedPoint> {
        point(self.next()?)
    }

    /// What follows these names, of which each may be there, in this order; nothing else may be.
    fn optional<const N: usize>(&mut self, names: [&str; N]) -> Option<[Option<&'a str>; N]> {
        let mut found = [None; N];
        let mut from = 0;
        while let Some(word) = self.next() {
            let index = from + names[from..].iter().position(|name| *name == word)?;
            found[index] = Some(self.next()?);
            from = index + 1;
        }
        Some(found)
    }
}

fn point(word: &str) -> Option<RecordedPoint> {
    let (queue, sequence) = word.split_once(':')?;
    Some(RecordedPoint {
        queue: queue.parse().ok()?,
        sequence: sequence.parse().ok()?,
    })
}

fn use_(word: &str) -> Option<RecordedUse> {
    let (at, writes) = match word.as_bytes().last()? {
        b'w' => (&word[..word.len() - 1], Some(true)),
        b'r' => (&word[..word.len() - 1], Some(false)),
        _ => (word, None),
    };
    let at = point(at)?;
    Some(RecordedUse { at, writes })
}

/// What commas separate; nothing, if there is nothing.
fn list<T>(words: Option<&str>, one: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    words.map_or(Some(Vec::new()), |words| {
        words.split(',').map(one).collect()
    })
}
