//! Arrays as text, as NumPy prints them.
//!
//! Numbers of an array share one format, so that columns align; long arrays are summarised by
//! their edges, and only those are read. Printing observes, so it waits (rule O5).

mod digits;
mod float;
mod number;
mod options;
mod page;
#[cfg(test)]
mod tests;

use millpond_types::shape::Tuple;
use millpond_types::{DType, Scalar};

use crate::error::{Error, Result};
use crate::indexing::Index;
use crate::tensor::Tensor;
use number::NumberFormat;
pub use options::{FloatMode, PrintOptions, Sign};
pub use page::Frame;
use page::{Page, edges};

impl Tensor {
    /// The elements in brackets; the number itself, with all its digits, if there are no axes.
    ///
    /// # Errors
    /// The failure of what computed them; no memory.
    pub fn to_text(&self, options: &PrintOptions) -> Result<String> {
        if self.ndim() == 0 {
            let mut shown = Vec::new();
            self.collect_shown(None, &mut shown)?;
            let words = shown
                .iter()
                .map(|&value| number::alone(value, self.dtype()));
            return Ok(words.collect());
        }
        let frame = Frame {
            separator: " ",
            prefix: "",
            suffix: "",
        };
        self.to_framed_text(options, frame)
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
        if (self.size() == 0 && self.shape() != [0]) || self.size() > options.threshold {
            extras.push(format!("shape={}", Tuple(self.shape())));
        }
        let is_default = matches!(
            self.dtype(),
            DType::Bool | DType::Int64 | DType::Float64 | DType::Complex128
        );
        if !is_default || self.size() == 0 {
            extras.push(format!("dtype={}", self.dtype()));
        }
        let text = self.to_framed_text(options, frame)?;
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

    /// The elements in brackets, laid out for what stands around them, which isn't in the text.
    ///
    /// # Errors
    /// As for [`Tensor::to_text`].
    pub fn to_framed_text(&self, options: &PrintOptions, frame: Frame<'_>) -> Result<String> {
        if self.size() == 0 {
            return Ok("[]".to_owned());
        }
        let edge = (self.size() > options.threshold).then_some(options.edge_items);
        let mut shown = Vec::new();
        self.collect_shown(edge, &mut shown)?;
        let mut measured = Vec::new();
        if edge == Some(0) {
            // As with NumPy, whose edges of no elements are the whole array.
            self.collect_shown(None, &mut measured)?;
        }
        let measured = if edge == Some(0) { &measured } else { &shown };
        let format = NumberFormat::of(measured, self.dtype(), self.ndim(), options);
        let words: Vec<String> = shown.iter().map(|&value| format.word(value)).collect();
        let mut page = Page {
            words: words.into_iter(),
            shape: self.shape(),
            edge,
            separator: frame.separator,
        };
        if self.ndim() == 0 {
            return Ok(page.word());
        }
        let indent = 1 + frame.prefix.chars().count();
        let suffix = frame.suffix.chars().count();
        Ok(page.axis(0, indent, options.line_width.saturating_sub(suffix)))
    }

    /// Reads the elements that are shown, in row-major order.
    fn collect_shown(&self, edge: Option<usize>, shown: &mut Vec<Scalar>) -> Result<()> {
        if edge.is_none() || self.ndim() == 0 {
            let bytes = self.to_bytes()?;
            for element in bytes.chunks_exact(self.item_size()) {
                let value = Scalar::from_bytes(self.dtype(), element);
                shown.push(value.ok_or_else(|| Error::value("printing", "cut element"))?);
            }
            return Ok(());
        }
        let size = self.shape()[0];
        let (head, tail) = edges(size, edge);
        if self.ndim() == 1 {
            for (begin, end) in [(0, head), (size - tail, size)] {
                let part = self.get(&[Index::range(begin as isize, end as isize)])?;
                part.collect_shown(None, shown)?;
            }
            return Ok(());
        }
        for index in (0..head).chain(size - tail..size) {
            self.get(&[Index::At(index as isize)])?
                .collect_shown(edge, shown)?;
        }
        Ok(())
    }
}
