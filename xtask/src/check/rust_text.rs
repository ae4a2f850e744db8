//! Rust source without its comments and literals: just enough lexing to look at identifiers.

/// The source with comments, strings and characters blanked out; lines keep their numbers.
pub(super) fn code_only(source: &str) -> String {
    let mut rest = source;
    let mut code = String::with_capacity(source.len());
    while let Some(first) = rest.chars().next() {
        let skip = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            '\'' => character(rest),
            'r' | 'b' | 'c' if !ends_in_word(&code) => prefixed_string(rest),
            _ => 0,
        };
        if skip == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.push(' ');
            code.extend(rest[..skip].chars().filter(|&c| c == '\n'));
            rest = &rest[skip..];
        }
    }
    code
}

/// The identifiers of a line of code.
pub(super) fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

fn ends_in_word(code: &str) -> bool {
    code.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// The length of the block comment, with those inside it, that `rest` begins with.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of the string, with escapes, that `rest` begins with.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of the character literal that `rest` begins with, or zero for a lifetime.
fn character(rest: &str) -> usize {
    let mut inner = rest[1..].chars();
    match (inner.next(), inner.next()) {
        (Some('\\'), Some(escaped)) => {
            let after = 2 + escaped.len_utf8();
            rest[after..].find('\'').map_or(0, |end| after + end + 1)
        }
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

/// The length of the raw, byte or C string that `rest` begins with, or zero.
fn prefixed_string(rest: &str) -> usize {
    let letters = rest.len() - rest.trim_start_matches(['r', 'b', 'c']).len();
    let raw = rest[..letters].contains('r');
    let after = &rest[letters..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    if letters > 2 || !after[hashes..].starts_with('"') || (!raw && hashes > 0) {
        return 0;
    }
    if !raw {
        return letters + string(after);
    }
    let begin = letters + hashes + 1;
    let end = format!("\"{}", "#".repeat(hashes));
    rest[begin..]
        .find(&end)
        .map_or(rest.len(), |at| begin + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> Vec<String> {
        identifiers(&code_only(source)).map(str::to_owned).collect()
    }

    #[test]
    fn comments_and_literals_vanish() {
        assert_eq!(words("let a = \"one \\\" two\"; // three"), ["let", "a"]);
        assert_eq!(words("/* one /* two */ three */ b"), ["b"]);
        assert_eq!(words("r#\"one \" two\"# b\"three\" br\"four\" c"), ["c"]);
        assert_eq!(words("'x' '\\'' '\\u{1F600}' d"), ["d"]);
    }

    #[test]
    fn lifetimes_and_raw_names_stay() {
        assert_eq!(
            words("fn f<'a>(r: &'a u8)"),
            ["fn", "f", "a", "r", "a", "u8"]
        );
        assert_eq!(words("break r_b; cb"), ["break", "r_b", "cb"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = "a\n/* x\n y */ \"s\n t\" b\n";
        assert_eq!(code_only(source).lines().count(), source.lines().count());
    }
}
