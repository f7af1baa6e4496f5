//! `agent auth login|logout|list`: keys in `auth.json`, and where the key of each provider comes from.
//!
//! Shows no key, and takes none from the command line, where others could see it.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::config::complain;
use super::{DONE, Form, NO, written};
use crate::base::cancel::Cancel;
use crate::base::env::Env;
use crate::base::text::visible;
use crate::front::stdin;
use crate::front::stop::Stop;
use crate::front::term::hidden::{self, Typed};
use crate::product::agent::report::Interruption;
use crate::product::auth::secret::Secret;
use crate::product::auth::store;
use crate::product::config::mask::MASK;
use crate::product::config::naming::{REPLAY, is_known, own_providers};
use crate::product::config::presets::{PRESETS, Preset, preset};
use crate::product::config::{Flags, Loaded, inspect};
use crate::product::error::Error;
use crate::product::provider::check::{Judged, judge};
use crate::product::provider::key::{self, Found, RunKeys};
use crate::product::provider::unknown;

/// What is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keep a key.
    Login {
        /// Whose.
        name: String,
        /// Whether the server is asked about it.
        check: Check,
    },
    /// Forget the key that is kept.
    Logout {
        /// Whose.
        name: String,
    },
    /// Tell where keys come from.
    List {
        /// For programs or for people.
        form: Form,
    },
}

/// Whether a key is shown to its server before it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// It is; one that is refused is not kept.
    Server,
    /// It is not.
    Nobody,
}

/// Asks a person for a key, by the question given.
pub type Ask<'a> = &'a mut dyn FnMut(&str) -> Result<Typed, Error>;

/// Carries an action out. The key is asked for by `ask`; [`from_person`] does so for real.
///
/// # Errors
///
/// Usage: a provider nobody knows, what is no key, or an `auth.json` that does not parse, which is left as it is. Provider:
/// a key that its server refuses. Failed: a file that cannot be written.
pub fn run(
    action: &Action,
    env: &Env,
    flags: &Flags,
    stop: &Stop,
    ask: Ask<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    let loaded = inspect(env, flags);
    match action {
        Action::Login { name, check } => login(&loaded, env, name, *check, stop, ask, out, err),
        Action::Logout { name } => logout(&loaded, env, flags, name, out),
        Action::List { form } => written(complain(&loaded, err).and_then(|()| list(&loaded, env, *form, out))),
    }
}

/// A key typed where nobody sees it, or the first line of standard input where that is no terminal.
///
/// # Errors
///
/// When neither can be read.
pub fn from_person(question: &str, stop: &Stop) -> Result<Typed, Error> {
    if rustix::termios::isatty(rustix::stdio::stdin()) {
        return hidden::read(question, stop);
    }
    let line = stdin::line(stop.cancel())?;
    Ok(match line {
        _ if stop.cancel().is_cancelled() => Typed::Stopped,
        Some(line) => Typed::Line(Secret::new(&line)),
        None => Typed::Nothing,
    })
}

#[expect(clippy::too_many_arguments, reason = "the two ends of a conversation, and all it is about")]
fn login(
    loaded: &Loaded,
    env: &Env,
    name: &str,
    check: Check,
    stop: &Stop,
    ask: Ask<'_>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, Error> {
    if name == REPLAY {
        return written(writeln!(out, "{name} answers from a record: it needs no key").map(|()| DONE));
    }
    if !is_known(name, &loaded.values) {
        return Err(unknown(name, &loaded.values));
    }
    // Before anybody types: a file that does not parse takes nothing.
    store::readable(&loaded.paths.config_dir)?;
    let is_local = preset(name).is_some_and(Preset::is_local);
    if is_local
        && check == Check::Server
        && let Some(why) = wants_none(loaded, env, name, stop.cancel())?
    {
        if stop.cancel().is_cancelled() {
            return Ok(stopped(stop));
        }
        return written(writeln!(out, "{name}: {why}").map(|()| DONE));
    }
    let key = match ask(&format!("key for {name} (it is not shown while you type): "))? {
        Typed::Line(key) => key,
        Typed::Nothing => return Err(no_key(name, "nothing was entered")),
        Typed::Stopped => return Ok(stopped(stop)),
    };
    if key.expose().is_empty() {
        return Err(no_key(name, "it is empty"));
    }
    if !key::is_key(&key) {
        return Err(no_key(name, "it holds characters that no key has").hint(key::KEYS_ARE));
    }
    if let Some(what) = wrapping(key.expose()) {
        return Err(no_key(name, &format!("it is {what}")).hint("give what stands behind the `=`, without quotes"));
    }
    let judged = match check {
        Check::Server => judge(loaded, env, name, Some(key.clone()), stop.cancel())?,
        Check::Nobody => Judged::Unknown("as you wished".to_owned()),
    };
    if stop.cancel().is_cancelled() {
        return Ok(stopped(stop));
    }
    let checked = match judged {
        Judged::Accepted(count) => format!("{name} accepts it and lists {}", models(count)),
        Judged::Refused(error) => {
            return Err(Error::provider(format!("{name} refuses the key: {error}"))
                .hint("nothing was kept; look at the key's beginning and end, and whether it is one of this provider")
                .hint(format!("`agent auth login {name} --no-check` keeps it all the same")));
        }
        Judged::Unknown(why) => {
            if check == Check::Server {
                // Where that cannot be said there is nobody to read it.
                let _ = writeln!(err, "warning: the key could not be checked: {why}");
            }
            "not checked".to_owned()
        }
    };
    store::put(&loaded.paths.config_dir, name, &key)?;
    let path = loaded.auth.path().display();
    written((|| {
        writeln!(out, "the key for {name} is kept in {path} ({checked})")?;
        if let Found::Key { place, .. } = key::look(loaded, env, name, RunKeys::No)
            && comes_before_store(&place, name)
        {
            writeln!(err, "warning: {place} is set, too, and comes first")?;
        }
        Ok(DONE)
    })())
}

/// Why a server on this machine gets no key; `None` if it refuses to answer without one.
fn wants_none(loaded: &Loaded, env: &Env, name: &str, cancel: &Cancel) -> Result<Option<String>, Error> {
    Ok(match judge(loaded, env, name, None, cancel)? {
        Judged::Refused(_) => None,
        Judged::Accepted(_) => Some("it is a server on this machine and needs no key; nothing is kept".to_owned()),
        Judged::Unknown(why) => Some(format!(
            "it is a server on this machine, which usually needs no key; nothing is kept, since it could not be asked: \
             {why} (`agent auth login {name} --no-check` keeps one all the same)"
        )),
    })
}

/// What somebody copied around a key: a line of a shell's or of a `.env` file, or quotes.
fn wrapping(text: &str) -> Option<&'static str> {
    let is_quoted = |text: &str| {
        text.len() > 1 && ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote))
    };
    let is_name = |name: &str| {
        name.contains('_')
            && name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
    };
    let line = text.strip_prefix("export ").unwrap_or(text);
    match line.split_once('=') {
        _ if is_quoted(text) => Some("in quotes"),
        // Signs `=` at the end fill some keys up.
        Some((name, value)) if is_name(name) && !value.trim_matches('=').is_empty() => {
            Some("a line that sets a variable")
        }
        Some(_) | None => None,
    }
}

fn no_key(name: &str, why: &str) -> Error {
    Error::usage(format!("no key for {name}: {why}"))
        .hint(format!("type or paste it when asked, or pipe it in: `agent auth login {name} < FILE`"))
}

fn stopped(stop: &Stop) -> u8 {
    stop.interruption().unwrap_or(Interruption::Interrupt).exit_code()
}

fn models(count: usize) -> String {
    if count == 1 { "1 model".to_owned() } else { format!("{count} models") }
}

/// Whether a key found there is looked for before `auth.json`.
fn comes_before_store(place: &str, name: &str) -> bool {
    preset(name).and_then(|preset| preset.variable) == Some(place)
}

fn logout(loaded: &Loaded, env: &Env, flags: &Flags, name: &str, out: &mut dyn Write) -> Result<u8, Error> {
    let path = loaded.auth.path().display().to_string();
    let shown = visible::line(name);
    if !store::forget(&loaded.paths.config_dir, name)? {
        if !is_known(name, &loaded.values) {
            return Err(unknown(name, &loaded.values));
        }
        return written(writeln!(out, "{path} has no key for {shown}").map(|()| NO));
    }
    // As it is now.
    let after = inspect(env, flags);
    written((|| {
        writeln!(out, "the key for {shown} is no longer in {path}")?;
        if let Found::Key { place, .. } = key::look(&after, env, name, RunKeys::No) {
            writeln!(out, "{shown} still has one from {place}")?;
        }
        Ok(DONE)
    })())
}

/// Where the key of a provider comes from.
struct Row {
    provider: String,
    /// `auth.json`, `variable`, `config` or `command`.
    source: &'static str,
    place: String,
    /// Whether `auth.json` holds another one, behind this.
    is_doubled: bool,
}

fn rows(loaded: &Loaded, env: &Env) -> Vec<Row> {
    let known = PRESETS.iter().map(|preset| preset.name).chain(own_providers(&loaded.values));
    let mut names: Vec<&str> = known.collect();
    for name in loaded.auth.providers() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let row = |name: &str| match key::look(loaded, env, name, RunKeys::No) {
        Found::Key { key, place } => Some(Row {
            provider: name.to_owned(),
            source: source(key.is_some(), &place, name),
            is_doubled: comes_before_store(&place, name) && loaded.auth.key(name).is_some(),
            place,
        }),
        Found::Nowhere { .. } => None,
    };
    names.into_iter().filter_map(row).collect()
}

fn source(is_known: bool, place: &str, name: &str) -> &'static str {
    match is_known {
        false => "command",
        true if place == store::FILE => "auth.json",
        true if comes_before_store(place, name) || place.contains("($") => "variable",
        true => "config",
    }
}

fn list(loaded: &Loaded, env: &Env, form: Form, out: &mut dyn Write) -> io::Result<u8> {
    let rows = rows(loaded, env);
    match form {
        Form::Json => {
            let listed = rows.iter().map(|Row { provider, source, place, is_doubled: _ }| {
                json!({"provider": provider, "source": source, "place": place, "key": MASK})
            });
            writeln!(out, "{}", Value::from(listed.collect::<Vec<_>>()))?;
        }
        Form::Text => {
            let width = rows.iter().map(|row| row.provider.chars().count()).max().unwrap_or(0);
            for Row { provider, source, place, is_doubled } in &rows {
                let key = if *source == "command" { "not asked" } else { MASK };
                let more = if *is_doubled { "; the one in auth.json is not used" } else { "" };
                writeln!(out, "{:<width$}  {key:<9}  from {place}{more}", visible::line(provider))?;
            }
            if rows.is_empty() {
                writeln!(out, "no keys; `agent auth login NAME` keeps one")?;
            }
            if let Some(run) = &loaded.run_key {
                writeln!(out, "{} holds one for the provider that is named at start", run.place)?;
            }
        }
    }
    out.flush()?;
    Ok(DONE)
}

#[cfg(test)]
mod tests;
