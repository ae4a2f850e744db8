//! Arrays as text, as NumPy prints them.
//!
//! Numbers of an array share one format, so that columns align; long arrays are summarised by
//! their edges, and only those are read. Printing observes, so it waits (rule O5).

mod number;
#[cfg(test)]
mod tests;

use millpond_types::shape::Tuple;
use millpond_types::{DType, Scalar};

use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::tensor::Tensor;
use number::NumberFormat;

/// How many digits floats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatMode {
    /// Always `precision` digits behind the point.
    Fixed,
    /// As many as it takes to tell a number from its neighbours.
    Unique,
    /// As with `Unique`, but `precision` at most.
    MaxPrec,
    /// As with `MaxPrec`, but as many for each as for the one with most.
    MaxPrecEqual,
}

impl FloatMode {
    /// The mode of NumPy's name for it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "fixed" => Self::Fixed,
            "unique" => Self::Unique,
            "maxprec" => Self::MaxPrec,
            "maxprec_equal" => Self::MaxPrecEqual,
            _ => return None,
        })
    }
}

/// What stands in front of positive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// Nothing.
    Minus,
    /// A plus.
    Plus,
    /// A space.
    Space,
}

/// How arrays are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintOptions {
    /// Columns of a line.
    pub line_width: usize,
    /// Elements shown at each end of a summarised axis.
    pub edge_items: usize,
    /// Arrays of more elements are summarised.
    pub threshold: usize,
    /// Digits behind the point.
    pub precision: usize,
    /// How many digits floats have.
    pub float_mode: FloatMode,
    /// Whether floats never have an exponent.
    pub suppress: bool,
    /// What NaN is called.
    pub nan: String,
    /// What infinity is called.
    pub infinity: String,
    /// What stands in front of positive numbers.
    pub sign: Sign,
}

impl Default for PrintOptions {
    fn default() -> Self {
        Self {
            line_width: 75,
            edge_items: 3,
            threshold: 1000,
            precision: 8,
            float_mode: FloatMode::MaxPrec,
            suppress: false,
            nan: "nan".to_owned(),
            infinity: "inf".to_owned(),
            sign: Sign::Minus,
        }
    }
}

/// What stands between and around the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Between elements.
    pub separator: &'a str,
    /// What the caller puts in front; lines after the first are indented as much.
    pub prefix: &'a str,
    /// What the caller puts behind; the last line leaves room for it.
    pub suffix: &'a str,
}

impl Default for Frame<'_> {
    fn default() -> Self {
        Self {
            separator: " ",
            prefix: "",
            suffix: "",
        }
    }
}

impl Tensor {
    /// The elements in brackets, as `str` of an array gives them.
    ///
    /// # Errors
    /// The failure of what computed them; no memory.
    pub fn to_text(&self, options: &PrintOptions, frame: &Frame<'_>) -> Result<String> {
        if self.size() == 0 {
            return Ok("[]".to_owned());
        }
        let summarise = self.size() > options.threshold;
        let mut shown = Vec::new();
        self.collect_shown(options, summarise, &mut shown)?;
        let format = NumberFormat::of(&shown, self.dtype(), options);
        let words = shown.iter().map(|&value| format.word(value)).collect();
        let mut page = Page {
            words,
            next: 0,
            shape: self.shape(),
            edge: summarise.then_some(options.edge_items),
            separator: frame.separator,
        };
        if self.ndim() == 0 {
            return Ok(page.word());
        }
        let indent = 1 + frame.prefix.chars().count();
        let width = options
            .line_width
            .saturating_sub(frame.suffix.chars().count());
        Ok(page.axis(0, indent, width))
    }

    /// The array as a call that would make it: `name([1, 2])`, with shape and dtype where the
    /// elements don't tell them.
    ///
    /// # Errors
    /// As for [`Tensor::to_text`].
    pub fn to_repr(&self, name: &str, options: &PrintOptions) -> Result<String> {
        let prefix = format!("{name}(");
        let frame = Frame {
            separator: ", ",
            prefix: &prefix,
            suffix: ")",
        };
        let mut extras = Vec::new();
        if self.size() == 0 && self.shape() != [0] {
            extras.push(format!("shape={}", Tuple(self.shape())));
        }
        let is_default = matches!(
            self.dtype(),
            DType::Bool | DType::Int64 | DType::Float64 | DType::Complex128
        );
        if !is_default || self.size() == 0 {
            extras.push(format!("dtype={}", self.dtype()));
        }
        let text = self.to_text(options, &frame)?;
        if extras.is_empty() {
            return Ok(format!("{prefix}{text})"));
        }
        let extras = extras.join(", ");
        let begun = format!("{prefix}{text},");
        let last = begun.rsplit('\n').next().unwrap_or(&begun);
        let room = last.chars().count() + extras.chars().count() + 2 <= options.line_width;
        let space = if room {
            " ".to_owned()
        } else {
            format!("\n{}", " ".repeat(prefix.chars().count()))
        };
        Ok(format!("{begun}{space}{extras})"))
    }

    /// Reads the elements that are shown, in row-major order.
    fn collect_shown(
        &self,
        options: &PrintOptions,
        summarise: bool,
        shown: &mut Vec<Scalar>,
    ) -> Result<()> {
        if !summarise || self.ndim() == 0 {
            let bytes = self.to_bytes()?;
            for element in bytes.chunks_exact(self.item_size()) {
                let value = Scalar::from_bytes(self.dtype(), element);
                shown.push(value.ok_or_else(|| Error::value("printing", "cut element"))?);
            }
            return Ok(());
        }
        let size = self.shape()[0];
        let (head, tail) = edges(size, Some(options.edge_items));
        if self.ndim() == 1 {
            for (begin, end) in [(0, head), (size - tail, size)] {
                let part = self.get(&[Index::range(begin as isize, end as isize)])?;
                part.collect_shown(options, false, shown)?;
            }
            return Ok(());
        }
        for index in (0..head).chain(size - tail..size) {
            self.get(&[Index::At(index as isize)])?
                .collect_shown(options, true, shown)?;
        }
        Ok(())
    }
}

/// How many elements of an axis are shown from its begin, and how many from its end.
const fn edges(size: usize, edge: Option<usize>) -> (usize, usize) {
    match edge {
        Some(edge) if size > 2 * edge => (edge, edge),
        _ => (size, 0),
    }
}

/// Words on their way into brackets and lines.
struct Page<'a> {
    words: Vec<String>,
    next: usize,
    shape: &'a [usize],
    edge: Option<usize>,
    separator: &'a str,
}

impl Page<'_> {
    fn word(&mut self) -> String {
        let word = self.words.get_mut(self.next).map(std::mem::take);
        self.next += 1;
        word.unwrap_or_default()
    }

    /// The elements of an axis in brackets; lines after the first are indented.
    fn axis(&mut self, axis: usize, indent: usize, width: usize) -> String {
        let axes_left = self.shape.len() - axis;
        let (head, tail) = edges(self.shape[axis], self.edge);
        let is_cut = head + tail < self.shape[axis];
        if axes_left == 1 {
            return self.line(head, tail, is_cut, indent, width);
        }
        let mut parts = Vec::new();
        for _ in 0..head {
            parts.push(self.axis(axis + 1, indent + 1, width.saturating_sub(1)));
        }
        if is_cut {
            parts.push("...".to_owned());
        }
        for _ in 0..tail {
            parts.push(self.axis(axis + 1, indent + 1, width.saturating_sub(1)));
        }
        let between = format!(
            "{}{}{}",
            self.separator.trim_end(),
            "\n".repeat(axes_left - 1),
            " ".repeat(indent)
        );
        format!("[{}]", parts.join(&between))
    }

    /// The elements of the last axis, in lines of `width` columns.
    fn line(
        &mut self,
        head: usize,
        tail: usize,
        is_cut: bool,
        indent: usize,
        width: usize,
    ) -> String {
        let mut words: Vec<String> = (0..head).map(|_| self.word()).collect();
        if is_cut {
            words.push("...".to_owned());
        }
        words.extend((0..tail).map(|_| self.word()));
        // The separator, or the bracket of the last word, must still fit the line.
        let room = width.saturating_sub(self.separator.trim_end().len().max(1));
        let mut text = String::new();
        let mut line = " ".repeat(indent);
        let mut line_len = indent;
        let count = words.len();
        for (index, word) in words.into_iter().enumerate() {
            let word_len = word.chars().count();
            if line_len + word_len > room && line_len > indent {
                text.push_str(line.trim_end());
                text.push('\n');
                line = " ".repeat(indent);
                line_len = indent;
            }
            line.push_str(&word);
            line_len += word_len;
            if index + 1 < count {
                line.push_str(self.separator);
                line_len += self.separator.len();
            }
        }
        text.push_str(&line);
        format!("[{}]", text.get(indent..).unwrap_or(""))
    }
}
