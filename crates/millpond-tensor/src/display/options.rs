//! How arrays are printed, as far as a program may choose.

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
