//! Paths of pictures as terminals write them when files are dropped on a window: bare, with blanks escaped, in quotes, as `file://`
//! addresses, several with white space between. Whether the files exist is not known here.

/// How many files at once are looked at: more are no drop, but a list that somebody copied.
const MOST_PATHS: usize = 20;
/// No path is longer, in bytes; that of Linux.
const LONGEST_PATH: usize = 4096;

/// The ways to read a whole text as paths, likeliest first; none where it can be no drop. A path with blanks that nobody
/// escaped is one path in the first way and several in the second.
pub fn readings(text: &str) -> Vec<Vec<String>> {
    if text.trim().is_empty() || text.len() > MOST_PATHS * LONGEST_PATH {
        return Vec::new();
    }
    let whole = Some(text.trim()).filter(|text| !text.contains('\n')).map(|text| vec![text.to_owned()]);
    let parts = words(text).filter(|words| words.len() <= MOST_PATHS);
    let mut readings: Vec<Vec<String>> = [whole, parts]
        .into_iter()
        .flatten()
        .filter_map(|words| words.into_iter().map(|word| path(&word)).collect())
        .collect();
    readings.dedup();
    readings
}

/// The path that a word is: an address of this machine, or a name; it ends like that of a picture.
fn path(word: &str) -> Option<String> {
    let path = match word.strip_prefix("file://") {
        Some(rest) => {
            let at = rest.find('/')?;
            let (host, path) = rest.split_at(at);
            // Others are named by terminals at the far end of a connection; their files are not here.
            (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then(|| unescaped(path))??
        }
        None => word.to_owned(),
    };
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_picture = ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
    (is_picture && path.len() <= LONGEST_PATH && !path.contains(char::is_control)).then_some(path)
}

/// Endings of pictures, with some of which others know what to do: who drops one of those wants to hear why it is not taken.
const ENDINGS: [&str; 11] = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "heic", "avif", "jxl", "tif", "tiff"];

/// With the bytes that `%` stands for.
fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == b'%' {
            let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after.get(2..)?;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The words of a text as a shell would part them; `None` where a quote stays open.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().push(letters.next()?),
            (Some('"'), '\\') => match letters.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => word.get_or_insert_default().push(escaped),
                other => word.get_or_insert_default().extend(['\\', other]),
            },
            (None, letter) if letter.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_terminals_write_is_read() {
        for (text, expected) in [
            ("/tmp/a.png", &["/tmp/a.png"][..]),
            (" /tmp/a.png\n", &["/tmp/a.png"]),
            ("'/tmp/my shot.png'", &["/tmp/my shot.png"]),
            ("\"/tmp/my \\\"own\\\" shot.png\"", &["/tmp/my \"own\" shot.png"]),
            ("/tmp/my\\ shot\\ \\(1\\).png", &["/tmp/my shot (1).png"]),
            ("file:///tmp/my%20shot%C3%A4.png", &["/tmp/my shotä.png"]),
            ("file://localhost/tmp/a.png", &["/tmp/a.png"]),
            ("'/tmp/a b.png' /tmp/c.jpg\nfile:///d%2Fe.gif", &["/tmp/a b.png", "/tmp/c.jpg", "/d/e.gif"]),
            ("~/a.png ../b.heic", &["~/a.png", "../b.heic"]),
            ("shot.PNG", &["shot.PNG"]),
        ] {
            let readings = readings(text);
            assert!(readings.iter().any(|reading| reading == expected), "{text}: {readings:?}");
        }
        let blanks = readings("/tmp/my own shot.png");
        assert_eq!(blanks[0], ["/tmp/my own shot.png"]);
    }

    #[test]
    fn what_people_paste_is_no_drop() {
        for text in [
            "",
            "  \n",
            "hello",
            "/exit",
            "/usr/bin/x",
            "file://elsewhere/tmp/a.png",
            "file:///tmp/%zz.png",
            "file:///tmp/%ff.png",
            "https://example.org/a b.html",
            "/tmp/a\u{1b}.png\nx",
            "let x = 1;\nlet y = 2;",
        ] {
            assert_eq!(readings(text), Vec::<Vec<String>>::new(), "{text}");
        }
        assert!(readings(&"/tmp/a.png\n".repeat(21)).is_empty());
        assert!(readings(&format!("/{}", "x".repeat(100_000))).is_empty());
    }

    proptest! {
        #[test]
        fn quoted_paths_come_back(paths in prop::collection::vec("/[a-z .ä'\"\\\\$%()]{1,12}[.]png", 1..5)) {
            let single = |path: &String| format!("'{}'", path.replace('\'', r"'\''"));
            let escaped = |path: &String| path.chars().map(|letter| format!("\\{letter}")).collect::<String>();
            for write in [&single as &dyn Fn(&String) -> String, &escaped] {
                let text = paths.iter().map(write).collect::<Vec<_>>().join(" ");
                prop_assert!(readings(&text).contains(&paths), "{}", text);
            }
        }

        #[test]
        fn nothing_breaks_it(text in "[/~.png'\"\\\\ %0-9a-f:\n]{0,40}") {
            readings(&text);
        }
    }
}
