//! Libraries that were tried, and what became of each.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// The libraries in the order in which they were tried: why one couldn't be used, or `None` for the one
/// that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tried(pub(crate) Vec<(PathBuf, Option<String>)>);

impl fmt::Display for Tried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        let is_used = |(_, reason): &(_, Option<String>)| reason.is_none();
        if !self.0.is_empty() && !self.0.iter().any(is_used) {
            f.write_str("not found")?;
            separator = ": ";
        }
        for (path, reason) in &self.0 {
            let path = path.display();
            match reason {
                Some(reason) => write!(f, "{separator}{path}: {reason}")?,
                None => write!(f, "{separator}{path} was loaded")?,
            }
            separator = "; ";
        }
        Ok(())
    }
}

/// What the loader said, without the name of the library, which stands before it.
pub(crate) fn reason_of(error: &libloading::Error) -> String {
    let text = match error.source() {
        Some(source) => source.to_string(),
        None => error.to_string(),
    };
    let told = text.rsplit_once(": ").map(|(_, reason)| reason);
    told.unwrap_or(&text).to_owned()
}
