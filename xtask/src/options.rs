//! The arguments of a command: flags, options with a value, and words.

use std::collections::BTreeMap;

use crate::failure::{Failure, Outcome};

/// Parsed arguments.
#[derive(Debug, Default)]
pub(crate) struct Options {
    flags: Vec<String>,
    values: BTreeMap<String, String>,
    /// What is neither a flag nor an option, in order.
    pub(crate) words: Vec<String>,
}

impl Options {
    /// Reads `arguments`, of which `flags` stand alone and `valued` are followed by a value.
    pub(crate) fn parse(arguments: &[String], flags: &[&str], valued: &[&str]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let Some(name) = argument.strip_prefix("--") else {
                options.words.push(argument.clone());
                continue;
            };
            if flags.contains(&name) {
                options.flags.push(name.to_owned());
            } else if valued.contains(&name) {
                let value = rest
                    .next()
                    .ok_or_else(|| Failure::Usage(format!("--{name} needs a value")))?;
                options.values.insert(name.to_owned(), value.clone());
            } else {
                return Err(Failure::Usage(format!("there is no option --{name}")));
            }
        }
        Ok(options)
    }

    /// Whether the flag was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|given| given == flag)
    }

    /// The value of an option, if it was given.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    /// The number that an option gives, or `default`.
    pub(crate) fn number(&self, name: &str, default: f64) -> Outcome<f64> {
        match self.value(name) {
            None => Ok(default),
            Some(text) => text
                .parse()
                .map_err(|_| Failure::Usage(format!("--{name} wants a number, not '{text}'"))),
        }
    }

    /// Fails if there are words, for commands that take none.
    pub(crate) fn no_words(&self) -> Outcome<()> {
        match self.words.first() {
            None => Ok(()),
            Some(word) => Err(Failure::Usage(format!("unexpected argument '{word}'"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Outcome<Options> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words, &["write"], &["rounds"])
    }

    #[test]
    fn flags_values_and_words_are_told_apart() {
        let options = parse("reduce --write --rounds 3").unwrap();
        assert!(options.has("write"));
        assert_eq!(options.number("rounds", 1.0).unwrap(), 3.0);
        assert_eq!(options.words, ["reduce"]);
    }

    #[test]
    fn unknown_options_and_missing_values_are_refused() {
        assert!(parse("--unknown").is_err());
        assert!(parse("--rounds").is_err());
        assert!(
            parse("--rounds many")
                .unwrap()
                .number("rounds", 1.0)
                .is_err()
        );
    }
}
