//! Taking the line numbers off that a model copied from what `read_file` showed.
//!
//! Only a run of numbers that counts lines is taken for one.

/// `old` and `new` without line numbers, where every line of `old` begins with one, counting up by one.
///
/// Lines of `new` lose theirs where they have one with the same separator.
pub fn strip(old: &str, new: &str) -> Option<(String, String)> {
    let mut stripped = String::with_capacity(old.len());
    let mut expected = None;
    let mut separator = None;
    for line in old.split_inclusive('\n') {
        let (number, by, rest) = prefix(line)?;
        if expected.is_some_and(|expected| expected != number) || separator.is_some_and(|separator| separator != by) {
            return None;
        }
        expected = Some(number + 1);
        separator = Some(by);
        stripped.push_str(rest);
    }
    let separator = separator?;
    if stripped.is_empty() {
        return None;
    }
    let mut replacement = String::with_capacity(new.len());
    for line in new.split_inclusive('\n') {
        match prefix(line) {
            Some((_, by, rest)) if by == separator => replacement.push_str(rest),
            _ => replacement.push_str(line),
        }
    }
    Some((stripped, replacement))
}

/// A line's number, what stands between it and the line, and the line.
fn prefix(line: &str) -> Option<(u64, char, &str)> {
    let trimmed = line.trim_start_matches(' ');
    let digits = trimmed.len() - trimmed.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = trimmed.get(..digits)?.parse().ok()?;
    let rest = trimmed.get(digits..)?;
    let rest = rest.strip_prefix(' ').filter(|rest| rest.starts_with('|')).unwrap_or(rest);
    let mut letters = rest.chars();
    let separator = letters.next().filter(|c| matches!(c, '\t' | '→' | '|' | ':'))?;
    let rest = letters.as_str();
    // Tables and compilers' excerpts put a space after the bar or the colon.
    let rest = if matches!(separator, '|' | ':') { rest.strip_prefix(' ').unwrap_or(rest) } else { rest };
    Some((number, separator, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_that_count_are_taken_off() {
        let strip = |old, new| strip(old, new).map(|(old, new)| format!("{old}->{new}"));
        assert_eq!(strip("7\tfoo\n8\tbar\n", "7\tfoo\nmore\n8\tbaz\n").unwrap(), "foo\nbar\n->foo\nmore\nbaz\n");
        assert_eq!(strip("  9→\tx", "y").unwrap(), "\tx->y");
        assert_eq!(strip("9 | x\n10 |  y", "9 | z").unwrap(), "x\n y->z");
        assert_eq!(strip("7\tfoo\n9\tbar", ""), None);
        assert_eq!(strip("7\tfoo\n8:bar", ""), None);
        assert_eq!(strip("7\tfoo\nbar", ""), None);
        assert_eq!(strip("key: value", ""), None);
        assert_eq!(strip("7\t", "x"), None);
    }
}
