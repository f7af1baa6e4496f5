//! What to show of a line that has not ended, so that the next letters change little: a lone `-` may become a rule, an
//! item or a heading, and `**bo` will become bold.

use std::borrow::Cow;

/// The part of an unfinished line that can be shown, with the marks at its end that it lacks. Within code that `fence`
/// closes only what may become the fence is held back.
pub fn shown_so_far(line: &str, fence: Option<char>) -> Cow<'_, str> {
    if let Some(mark) = fence {
        let closing = !line.is_empty() && line.chars().all(|letter| letter == mark || letter == ' ');
        return Cow::Borrowed(if closing { "" } else { line });
    }
    let is_mark = |letter: char| letter.is_ascii_digit() || "-=*_`~#>+|:.) \t".contains(letter);
    let is_short = line.len() <= MOST_NUMBER_BYTES || !line.contains(|letter: char| letter.is_ascii_digit());
    if line.chars().all(is_mark) && is_short {
        return Cow::Borrowed("");
    }
    let body = line.trim_end_matches(['*', '_', '`', '~']);
    let (mut code, mut strong) = (false, false);
    let mut before = ' ';
    let mut letters = body.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == '`' {
            code = !code;
        } else if letter == '*' && !code && letters.peek() == Some(&'*') {
            letters.next();
            let opens = letters.peek().is_some_and(|next| !next.is_whitespace());
            strong = if strong { before.is_whitespace() } else { opens };
        }
        before = letter;
    }
    if !code && !strong {
        // The marks at the end close something, unless they stand alone: then they begin something.
        return Cow::Borrowed(if body.ends_with([' ', '\t']) { body.trim_end() } else { line });
    }
    Cow::Owned(format!("{}{}{}", body.trim_end(), if code { "`" } else { "" }, if strong { "**" } else { "" }))
}

/// As long as the number of an item may be; longer ones are an answer.
const MOST_NUMBER_BYTES: usize = 10;
