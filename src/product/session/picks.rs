//! Sessions as a person chooses among them: what was said, how long ago, how much.
//!
//! Only words; which sessions there are comes from [`super::list`].

use super::list::Info;
use super::name;

/// A session to choose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pick {
    /// Its id.
    pub id: String,
    /// Its name, else a title made of the first question.
    pub title: String,
    /// The name alone, as it would be changed.
    pub name: Option<String>,
    /// The folder it works in.
    pub cwd: String,
    /// How long ago something was last said: `3 h ago`.
    pub age: String,
    /// How many messages there are.
    pub messages: u64,
}

/// The sessions in their order, as things stood at `now` (milliseconds since 1970).
pub fn picks(infos: &[Info], now: i64) -> Vec<Pick> {
    let pick = |info: &Info| Pick {
        id: info.id.clone(),
        title: called(info).to_owned(),
        name: info.name.clone(),
        cwd: info.cwd.clone(),
        age: ago(info.updated_at, now),
        messages: info.messages,
    };
    infos.iter().map(pick).collect()
}

/// What a session is called: its name, else a title made of the first question.
pub fn called(info: &Info) -> &str {
    info.name.as_deref().or(info.title.as_deref()).unwrap_or("(nothing said)")
}

/// How long ago `moment` was at `now`, both in milliseconds since 1970; after a week its date.
pub fn ago(moment: i64, now: i64) -> String {
    let minutes = now.saturating_sub(moment) / 60_000;
    match minutes {
        // A clock that was put back makes moments of the future.
        ..=0 => "now".to_owned(),
        1..60 => format!("{minutes} min ago"),
        60..1_440 => format!("{} h ago", minutes / 60),
        1_440..2_880 => "1 day ago".to_owned(),
        2_880..10_080 => format!("{} days ago", minutes / 1_440),
        10_080.. => name::readable(moment).split(' ').next().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::message::Origin;

    #[test]
    fn ages_are_read_at_a_glance() {
        let now = 1_796_028_350_123;
        let ages = [-5, 0, 59, 60, 3_599, 3_600, 86_399, 86_400, 172_800, 604_799];
        assert_eq!(
            ages.map(|seconds| ago(now - seconds * 1000, now)),
            [
                "now",
                "now",
                "now",
                "1 min ago",
                "59 min ago",
                "1 h ago",
                "23 h ago",
                "1 day ago",
                "2 days ago",
                "6 days ago"
            ]
        );
        assert_eq!(ago(0, now).len(), "1970-01-01".len());
        assert_eq!(ago(i64::MIN, i64::MAX).len(), ago(i64::MIN, 0).len());
    }

    #[test]
    fn a_name_stands_before_the_first_question() {
        let info = |name: Option<&str>, title: Option<&str>| Info {
            id: "20261130-140501-ab12".to_owned(),
            path: "/x".into(),
            name: name.map(str::to_owned),
            title: title.map(str::to_owned),
            cwd: "/".to_owned(),
            created_at: 0,
            updated_at: 0,
            model: Origin { provider: String::new(), model: String::new() },
            messages: 3,
            parent: None,
            spent: None,
        };
        let infos = [info(Some("name"), Some("title")), info(None, Some("title")), info(None, None)];
        let titles: Vec<_> = picks(&infos, 0).into_iter().map(|pick| pick.title).collect();
        assert_eq!(titles, ["name", "title", "(nothing said)"]);
    }
}
