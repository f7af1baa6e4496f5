//! The head of a Markdown file that says what the file is: YAML between two lines of `---`. JSON is YAML, too.
//!
//! Reads one text; which fields there are, and what they mean, is for those who keep such files to say.

use serde_json::Value;

use crate::base::json::Object;

/// What stands before and behind front matter.
const FENCE: &str = "---";

/// A file with front matter, taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Document<'a> {
    /// The fields; none where there is no front matter.
    pub fields: Object,
    /// What follows, without the line break behind the fence.
    pub body: &'a str,
    /// The line of the file that the body begins with, from 1.
    pub body_line: usize,
}

/// Why front matter cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct Broken {
    /// The line of the file, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: String,
}

/// Takes a file apart. A byte order mark, CRLF, and blanks behind a fence do no harm.
///
/// Text behind a colon that YAML would read as something else (`description: use it: now`) is taken as it stands, since
/// many such files are found in the wild.
///
/// # Errors
///
/// Front matter that is not closed, is no YAML, or has no fields.
pub fn read(text: &str) -> Result<Document<'_>, Broken> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| is_fence(line)) else {
        return Ok(Document { fields: Object::new(), body: text, body_line: 1 });
    };
    let mut end = first.len();
    let mut count = 1;
    for line in lines {
        count += 1;
        let begin = end;
        end += line.len();
        if is_fence(line) {
            let yaml = text.get(first.len()..begin).unwrap_or_default();
            let body = text.get(end..).unwrap_or_default();
            return Ok(Document { fields: fields(yaml)?, body, body_line: count + 1 });
        }
    }
    Err(Broken { line: 1, problem: format!("the front matter is not closed by a line of {FENCE}") })
}

fn is_fence(line: &str) -> bool {
    line.trim_end() == FENCE
}

/// The most values of front matter, those that aliases repeat included: no head that says something has more, and one that
/// means to cost time is refused at once.
const MOST_VALUES: usize = 5_000;

/// How deep they may lie.
const DEEPEST: usize = 32;

fn parsed(yaml: &str) -> Result<Value, serde_saphyr::Error> {
    let budget = serde_saphyr::budget! {
        max_nodes: MOST_VALUES,
        max_events: 4 * MOST_VALUES,
        max_depth: DEEPEST,
    };
    serde_saphyr::from_str_with_options(yaml, serde_saphyr::options! { budget: budget })
}

fn fields(yaml: &str) -> Result<Object, Broken> {
    let read = parsed(yaml).or_else(|error| {
        let error = Broken {
            // The fence is one line before.
            line: error.location().map_or(1, |place| usize::try_from(place.line()).unwrap_or(usize::MAX)) + 1,
            problem: worded(&error.without_snippet().to_string()),
        };
        quoted(yaml).and_then(|yaml| parsed(&yaml).ok()).ok_or(error)
    });
    match read? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Object::new()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(Broken { line: 2, problem: "the front matter has no fields: `name: value` is expected".to_owned() })
        }
    }
}

/// What the parser says, without the place, which is that of the YAML alone, and without words for programmers.
fn worded(said: &str) -> String {
    let line = said.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    match line.contains("budget") || line.contains("recursive") {
        true => "the front matter is too large, too deep, or repeats itself with `*`".to_owned(),
        false => format!("the front matter is no YAML: {line}"),
    }
}

/// The same with the values of single lines in quotes, where they hold a colon and are not quoted; `None` where no line
/// is such.
fn quoted(yaml: &str) -> Option<String> {
    let mut changed = false;
    let lines: Vec<String> = yaml
        .lines()
        .map(|line| match line.split_once(": ") {
            Some((name, value)) if is_bare(name, value.trim()) => {
                changed = true;
                format!("{name}: {}", Value::from(value.trim()))
            }
            Some(_) | None => line.to_owned(),
        })
        .collect();
    changed.then(|| lines.join("\n"))
}

fn is_bare(name: &str, value: &str) -> bool {
    let is_name = name.chars().all(|letter| letter.is_alphanumeric() || letter == '-' || letter == '_');
    let begins_plain = !value.starts_with(['"', '\'', '|', '>', '[', '{', '&', '*', '!', '%', '@', '`']);
    is_name && begins_plain && (value.contains(": ") || value.ends_with(':') || value.contains(" #"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn taken(text: &str) -> (Value, &str, usize) {
        let Document { fields, body, body_line } = read(text).unwrap();
        (Value::Object(fields), body, body_line)
    }

    #[test]
    fn fields_and_body_are_told_apart() {
        assert_eq!(
            taken("---\nname: a\nx: [1, two]\n---\nbody\n"),
            (json!({"name": "a", "x": [1, "two"]}), "body\n", 5)
        );
        assert_eq!(taken("\u{feff}---  \r\nname: a\r\n---\r\nbody\r\n"), (json!({"name": "a"}), "body\r\n", 4));
        assert_eq!(taken("---\n{\"name\": \"a: b\"}\n---\n"), (json!({"name": "a: b"}), "", 4));
        assert_eq!(taken("---\n---\nbody"), (json!({}), "body", 3));
        assert_eq!(taken("no front matter\n---\n"), (json!({}), "no front matter\n---\n", 1));
        assert_eq!(taken("---\nd: >-\n  one\n  two\n---\n").0, json!({"d": "one two"}));
        assert_eq!(taken("---\nd: a --- b\n---\nx\n---\ny").1, "x\n---\ny");
    }

    #[test]
    fn colons_in_a_value_do_no_harm() {
        let text = "---\nname: a\ndescription: Use it: when, e.g., a: b\nnext: true\n---\n";
        assert_eq!(taken(text).0, json!({"name": "a", "description": "Use it: when, e.g., a: b", "next": true}));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        for (text, line, problem) in [
            ("---\nname: a\n", 1, "not closed"),
            ("---\nname: [unclosed\n---\nx", 0, "no YAML"),
            ("---\nok: 1\n\tbad: 2\n---\n", 0, "no YAML"),
            ("---\njust words\n---\n", 2, "no fields"),
        ] {
            let broken = read(text).unwrap_err();
            assert!(broken.problem.contains(problem) && !broken.problem.contains('\n'), "{text:?}: {broken}");
            assert!(broken.line == line || line == 0 && (2..=4).contains(&broken.line), "{text:?}: {broken}");
        }
    }

    #[test]
    fn a_document_that_blows_up_is_refused() {
        let mut yaml = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let last = format!("*a{}", level - 1);
            yaml.push_str(&format!("a{level}: &a{level} [{}]\n", vec![last; 10].join(", ")));
        }
        let broken = read(&format!("---\n{yaml}---\n")).unwrap_err();
        assert_eq!(broken.problem, "the front matter is too large, too deep, or repeats itself with `*`");
        let broken = read("---\nname: &x [*x]\n---\n").unwrap_err();
        assert!(!broken.problem.contains("at line"), "{broken}");
        assert!(read(&format!("---\n{}\n---\n", "[".repeat(100_000))).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(---\r?\n)?[a-z:\\[\\]{}&*\"'|># \n\t-]{0,60}(\n---\n)?[a-z\n]{0,9}") {
            if let Ok(document) = read(&text) {
                prop_assert!(text.ends_with(document.body));
                prop_assert_eq!(text[..text.len() - document.body.len()].matches('\n').count() + 1, document.body_line);
            }
        }
    }
}
