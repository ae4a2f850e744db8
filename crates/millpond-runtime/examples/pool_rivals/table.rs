//! Tables of figures: a row for each case, a column for each allocator.

use std::fmt::Write;

/// How tables are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// In aligned columns.
    Text,
    /// As documents have them.
    Markdown,
    /// A line for each figure.
    Json,
}

/// Figures of several allocators in several cases.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: &'static str,
    /// What each figure of a cell is.
    pub(crate) figures: &'static [&'static str],
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Row>,
}

/// A case: its name, and the figures of each column that has some.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) cells: Vec<Option<Vec<f64>>>,
}

impl Table {
    /// The whole table, with its title.
    pub(crate) fn print(&self, format: Format) -> String {
        match format {
            Format::Text => self.lines(false),
            Format::Markdown => self.lines(true),
            Format::Json => self.json(),
        }
    }

    fn lines(&self, markdown: bool) -> String {
        let head = std::iter::once("case").chain(self.columns.iter().copied());
        let mut lines = vec![head.map(str::to_owned).collect::<Vec<_>>()];
        for row in &self.rows {
            let cells = row
                .cells
                .iter()
                .map(|cell| cell.as_deref().map_or("-".to_owned(), text));
            lines.push(std::iter::once(row.case.clone()).chain(cells).collect());
        }
        let widths: Vec<usize> = (0..lines[0].len())
            .map(|column| {
                lines
                    .iter()
                    .map(|line| line[column].len())
                    .max()
                    .unwrap_or(0)
            })
            .collect();
        let mut out = String::new();
        let mark = if markdown { "### " } else { "" };
        let _ = writeln!(
            out,
            "{mark}{}\n\n{}\n",
            self.title,
            self.figures.join(" / ")
        );
        for (index, line) in lines.iter().enumerate() {
            if markdown {
                let _ = writeln!(out, "| {} |", line.join(" | "));
                if index == 0 {
                    let _ = writeln!(out, "|{}", " --- |".repeat(line.len()));
                }
            } else {
                let padded = line.iter().zip(&widths).enumerate();
                let cells = padded.map(|(column, (cell, &width))| match column {
                    0 => format!("{cell:<width$}"),
                    _ => format!("{cell:>width$}"),
                });
                let _ = writeln!(out, "{}", cells.collect::<Vec<_>>().join("  "));
            }
        }
        out.push('\n');
        out
    }

    fn json(&self) -> String {
        let mut out = String::new();
        for row in &self.rows {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                for (figure, value) in self.figures.iter().zip(cell.iter().flatten()) {
                    // No name has a character that would have to be escaped.
                    let _ = writeln!(
                        out,
                        "{{\"table\":\"{}\",\"case\":\"{}\",\"allocator\":\"{column}\",\
                         \"figure\":\"{figure}\",\"value\":{value:.3}}}",
                        self.title, row.case
                    );
                }
            }
        }
        out
    }
}

fn text(figures: &[f64]) -> String {
    let figures = figures.iter().map(|&figure| match figure {
        // Ratios and shares have fractions worth telling; times hardly.
        small if small < 9.95 => format!("{small:.2}"),
        large => format!("{large:.0}"),
    });
    figures.collect::<Vec<_>>().join(" / ")
}

/// The name of a size.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{} KiB", bytes >> 10),
        0x10_0000..0x4000_0000 => format!("{} MiB", bytes >> 20),
        _ => format!("{} GiB", bytes >> 30),
    }
}
