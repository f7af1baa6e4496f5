//! What the head of a skill says, read as clients are meant to: what is odd is remarked on, and only a skill that does not
//! say what it is for is no skill (the Agent Skills specification, "Adding skills support").
//!
//! `allowed-tools`, `license`, `compatibility`, `metadata` and what other programs add are left alone; nothing in a head
//! allows anything.

use serde_json::Value;

use crate::base::json::Object;
use crate::base::text::clean;
use crate::base::text::cut::head;

/// The longest name, in characters, by the specification.
const NAME_CHARS: usize = 64;
/// The longest description, in characters, by the specification; what is longer is cut.
pub(super) const DESCRIPTION_CHARS: usize = 1024;
/// Programs, and variables, that a skill can ask for; nobody looks for more.
const MAX_REQUIRED: usize = 16;

/// What a head says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) always: bool,
    pub(super) people_only: bool,
    pub(super) programs: Vec<String>,
    pub(super) variables: Vec<String>,
}

/// What is odd about a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Oddity {
    pub(super) field: &'static str,
    pub(super) text: String,
}

/// Reads the fields of a skill that lies in a folder of the name `folder`.
///
/// # Errors
///
/// That it does not say what it is for.
pub(super) fn read(fields: &Object, folder: &str) -> Result<(Head, Vec<Oddity>), Oddity> {
    let mut odd = Vec::new();
    let description = description(fields, &mut odd)?;
    let name = name(fields, folder, &mut odd);
    let (programs, variables) = required(fields, &mut odd);
    let always = flag(fields, "always", &mut odd);
    let people_only = flag(fields, "disable-model-invocation", &mut odd);
    Ok((Head { name, description, always, people_only, programs, variables }, odd))
}

fn description(fields: &Object, odd: &mut Vec<Oddity>) -> Result<String, Oddity> {
    const FIELD: &str = "description";
    let missing = |text: &str| Oddity { field: FIELD, text: text.to_owned() };
    let Some(value) = fields.get(FIELD) else { return Err(missing("there is no description")) };
    let text = scalar(value).ok_or_else(|| missing("the description is no text"))?;
    let text = clean::line(&text).trim().to_owned();
    if text.is_empty() {
        return Err(missing("the description is empty"));
    }
    let kept = head(&text, DESCRIPTION_CHARS);
    if kept.len() == text.len() {
        return Ok(text);
    }
    odd.push(missing("the description has more than 1024 characters, and is cut"));
    Ok(kept.to_owned())
}

fn name(fields: &Object, folder: &str, odd: &mut Vec<Oddity>) -> String {
    const FIELD: &str = "name";
    let mut remark = |text: String| odd.push(Oddity { field: FIELD, text });
    let folder = clean::line(folder);
    let said = fields.get(FIELD).and_then(scalar).map(|name| clean::line(&name).trim().to_owned());
    let Some(said) = said.filter(|name| !name.is_empty()) else {
        remark("there is no name; that of the folder is taken".to_owned());
        return head(&folder, NAME_CHARS).to_owned();
    };
    let name = head(&said, NAME_CHARS).to_owned();
    if name.len() < said.len() {
        remark("the name has more than 64 characters, and is cut".to_owned());
    } else if !is_proper(&name) {
        remark(format!("the name {name:?} should be of a-z, 0-9 and single hyphens between them"));
    } else if name != folder {
        remark(format!("the name is {name}, but the folder's is {folder}"));
    }
    name
}

/// What the specification asks of a name.
fn is_proper(name: &str) -> bool {
    let has_good_letters = name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '-'));
    has_good_letters && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--")
}

/// Programs and variables.
fn required(fields: &Object, odd: &mut Vec<Oddity>) -> (Vec<String>, Vec<String>) {
    const FIELD: &str = "requires";
    let mut remark = |text: &str| odd.push(Oddity { field: FIELD, text: text.to_owned() });
    let required = match fields.get(FIELD) {
        None | Some(Value::Null) => return (Vec::new(), Vec::new()),
        Some(Value::Object(required)) => required,
        Some(_) => {
            remark("`requires` should hold `bins` and `env`, and is not heeded");
            return (Vec::new(), Vec::new());
        }
    };
    let mut list = |name: &str| match required.get(name) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => {
            let texts: Vec<String> = items.iter().filter_map(scalar).collect();
            if texts.len() < items.len() || texts.len() > MAX_REQUIRED {
                remark(&format!("`requires.{name}` should be a list of at most {MAX_REQUIRED} names"));
            }
            texts
        }
        Some(one) => match scalar(one) {
            Some(text) => text.split([',', ' ']).filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            None => {
                remark(&format!("`requires.{name}` should be a list of names"));
                Vec::new()
            }
        },
    };
    let names = |names: Vec<String>| names.into_iter().take(MAX_REQUIRED).collect();
    let programs = list("bins");
    // Some programs say `envs`.
    let variables = list("env").into_iter().chain(list("envs")).collect();
    (names(programs), names(variables))
}

fn flag(fields: &Object, field: &'static str, odd: &mut Vec<Oddity>) -> bool {
    let text = match fields.get(field) {
        None | Some(Value::Null) => return false,
        Some(value) => scalar(value).map(|text| text.trim().to_ascii_lowercase()),
    };
    match text.as_deref() {
        Some("true" | "yes" | "on") => true,
        Some("false" | "no" | "off") => false,
        Some(_) | None => {
            odd.push(Oddity { field, text: format!("`{field}` should be true or false, and is taken as false") });
            false
        }
    }
}

/// A value that is one word or text.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The line, from 1, on which a field of the front matter begins; the first where it is not there.
pub(super) fn line_of(text: &str, field: &str) -> usize {
    let begins = |line: &str| line.trim_start_matches(['"', '\'', '{', ' ', '\u{feff}']).starts_with(field);
    text.lines().position(begins).map_or(1, |line| line + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn of(fields: Value) -> Result<(Head, Vec<String>), String> {
        let Value::Object(fields) = fields else { panic!("fields are an object") };
        match read(&fields, "tuning") {
            Ok((head, odd)) => Ok((head, odd.into_iter().map(|odd| odd.text).collect())),
            Err(odd) => Err(odd.text),
        }
    }

    #[test]
    fn a_head_in_order_is_read_without_a_remark() {
        let (head, odd) = of(json!({
            "name": "tuning", "description": " Tunes\n  it ", "always": true, "license": "MIT", "allowed-tools": "Bash",
            "metadata": {"a": "b"}, "requires": {"bins": ["git"], "env": ["A"], "envs": ["B"]}, "model": 7,
        }))
        .unwrap();
        assert_eq!(odd, [""; 0]);
        assert_eq!((head.name.as_str(), head.description.as_str()), ("tuning", "Tunes it"));
        assert!(head.always && !head.people_only);
        assert_eq!((head.programs, head.variables), (vec!["git".to_owned()], vec!["A".to_owned(), "B".to_owned()]));
    }

    #[test]
    fn what_is_odd_is_remarked_on() {
        for (field, value, remark) in [
            ("name", json!("Tuning"), "should be of a-z"),
            ("name", json!("a--b"), "should be of a-z"),
            ("name", json!("other"), "but the folder's is tuning"),
            ("name", json!("x".repeat(65)), "more than 64"),
            ("name", json!(["a"]), "there is no name"),
            ("description", json!("x".repeat(1025)), "more than 1024"),
            ("always", json!("maybe"), "`always` should be true or false"),
            ("requires", json!(["git"]), "`requires` should hold"),
            ("requires", json!({"bins": {"a": 1}}), "`requires.bins` should be"),
            ("requires", json!({"env": ["A", ["B"]]}), "`requires.env` should be"),
        ] {
            let mut fields = json!({"name": "tuning", "description": "d"});
            fields[field] = value;
            let (head, odd) = of(fields.clone()).unwrap();
            assert!(odd.len() == 1 && odd[0].contains(remark), "{fields}: {odd:?}");
            assert!(head.name.chars().count() <= NAME_CHARS && head.description.len() <= DESCRIPTION_CHARS);
        }
        let (head, odd) = of(json!({"description": "d", "always": "yes", "requires": {"bins": "git, jq"}})).unwrap();
        assert_eq!((head.name.as_str(), head.always, odd.len()), ("tuning", true, 1));
        assert_eq!(head.programs, ["git", "jq"]);
    }

    #[test]
    fn only_a_missing_description_makes_it_no_skill() {
        for fields in [json!({"name": "a"}), json!({"description": ""}), json!({"description": ["a"]}), json!({})] {
            assert!(of(fields.clone()).unwrap_err().contains("description"), "{fields}");
        }
    }

    #[test]
    fn a_field_is_found_on_its_line() {
        let text = "---\nname: a\ndescription: d\n---\n";
        assert_eq!([line_of(text, "description"), line_of(text, "always")], [3, 1]);
        assert_eq!(line_of("---\n{\"name\": 1}\n---\n", "name"), 2);
    }

    proptest! {
        #[test]
        fn any_front_matter_is_read_or_refused(text in "---\n([a-z\"'{}\\[\\]:,|>&*!# \t-]{0,12}(name|description|always|requires|bins)?[: ]{0,2}[a-z\\[\\]{},\"0-9]{0,9}\n){0,8}---\n") {
            if let Ok(document) = crate::product::front_matter::read(&text)
                && let Ok((head, _)) = read(&document.fields, "folder")
            {
                prop_assert!(!head.description.is_empty() && !head.description.contains('\n'));
                prop_assert!(head.name.chars().count() <= NAME_CHARS && head.programs.len() <= MAX_REQUIRED);
            }
        }
    }
}
