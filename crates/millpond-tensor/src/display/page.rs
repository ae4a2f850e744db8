//! Words on their way into brackets and lines.

/// Whether an axis has more elements than its two edges.
fn is_cut(size: usize, edge: Option<usize>) -> bool {
    edge.is_some_and(|edge| size > edge.saturating_mul(2))
}

/// How many elements of an axis are shown from its begin, and how many from its end.
pub(super) fn edges(size: usize, edge: Option<usize>) -> (usize, usize) {
    match edge {
        // The last element is shown even where none is asked for.
        Some(edge) if is_cut(size, Some(edge)) => (edge, edge.max(1)),
        _ => (size, 0),
    }
}

/// What stands between and around the elements.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Between elements.
    pub separator: &'a str,
    /// Stands in front; lines after the first are indented as much.
    pub prefix: &'a str,
    /// Stands behind; the last line leaves room for it.
    pub suffix: &'a str,
}

/// The words of an array, in row-major order, and how they are laid out.
#[derive(Debug)]
pub(super) struct Page<'a> {
    pub(super) words: std::vec::IntoIter<String>,
    pub(super) shape: &'a [usize],
    /// Elements shown at each end of an axis, if not all are.
    pub(super) edge: Option<usize>,
    pub(super) separator: &'a str,
}

impl Page<'_> {
    pub(super) fn word(&mut self) -> String {
        self.words.next().unwrap_or_default()
    }

    /// The elements of an axis in brackets; lines after the first are indented.
    pub(super) fn axis(&mut self, axis: usize, indent: usize, width: usize) -> String {
        let axes_left = self.shape.len() - axis;
        let (head, tail) = edges(self.shape[axis], self.edge);
        let is_cut = is_cut(self.shape[axis], self.edge);
        if axes_left == 1 {
            return self.line(head, tail, is_cut, indent, width);
        }
        let mut inner = || self.axis(axis + 1, indent + 1, width.saturating_sub(1));
        let mut parts: Vec<String> = (0..head).map(|_| inner()).collect();
        if is_cut {
            parts.push("...".to_owned());
        }
        parts.extend((0..tail).map(|_| inner()));
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
