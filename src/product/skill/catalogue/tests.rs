//! The list and its caps.

use super::*;
use crate::product::skill::reach::Origin;
use crate::product::skill::{Missing, Source};
use proptest::prelude::*;

fn skill(name: &str, description: &str) -> Skill {
    Skill {
        name: name.to_owned(),
        description: description.to_owned(),
        source: Source::File { path: format!("/w/.viola/skills/{name}/SKILL.md").into(), origin: Origin::Project },
        always: false,
        people_only: false,
        missing: Missing::default(),
    }
}

fn listed(skills: &[Skill], most: usize) -> (String, Vec<Notice>) {
    let mut notices = Vec::new();
    let text = list(&skills.iter().collect::<Vec<_>>(), most, &mut notices);
    (text, notices)
}

#[test]
fn a_list_is_in_the_form_that_models_know() {
    let needy = Skill {
        missing: Missing { programs: vec!["jq".into()], variables: vec!["A".into(), "B".into()] },
        ..skill("needy", "Needs <things> & more")
    };
    let (text, notices) = listed(&[needy, Skill { source: Source::BuiltIn(""), ..skill("b", "d") }], CATALOGUE_CHARS);
    insta::assert_snapshot!(text, @r"
    Skills tell how a kind of task is done well. Before you do what one is about, load it with load_skill.
    <available_skills>
    <skill><name>needy</name><description>Needs &lt;things&gt; &amp; more (missing here: the program jq, the variables A, B)</description><location>/w/.viola/skills/needy/SKILL.md</location></skill>
    <skill><name>b</name><description>d</description><location>built in</location></skill>
    </available_skills>
    ");
    assert!(notices.is_empty());
    assert_eq!(listed(&[], CATALOGUE_CHARS).0, "");
}

#[test]
fn what_has_no_room_becomes_shorter_and_then_is_left_out() {
    let many = |count: usize| (0..count).map(|n| skill(&format!("skill-{n}"), &"word ".repeat(60))).collect::<Vec<_>>();
    let (text, notices) = listed(&many(30), CATALOGUE_CHARS);
    let told = &notices[0].text;
    assert!(text.chars().count() <= CATALOGUE_CHARS && text.chars().count() > CATALOGUE_CHARS - 300);
    assert!(text.matches("<skill>").count() == 30 && text.contains('…') && told.contains("cut at"), "{told}");
    let (text, notices) = listed(&many(200), CATALOGUE_CHARS);
    let told = &notices[0].text;
    assert!(text.chars().count() <= CATALOGUE_CHARS && text.contains("skill-0<") && !text.contains("skill-199<"));
    assert!(told.contains("are left out: skill-") && told.contains(", …") && told.len() < 500, "{told}");
}

fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

proptest! {
    #[test]
    fn escaped_text_comes_back_and_opens_nothing(text in "[a-z<>&\";ä ]{0,40}|(&amp;|&lt;|<|&){0,9}") {
        let escaped = escape(&text);
        prop_assert!(!escaped.contains(['<', '>', '"']));
        prop_assert_eq!(unescape(&escaped), text);
    }

    #[test]
    fn a_list_keeps_its_cap(lengths in proptest::collection::vec(0_usize..=1_024, 0..40), most in 300_usize..9_000) {
        let skills: Vec<_> = lengths.iter().enumerate().map(|(n, length)| skill(&format!("s{n}"), &"<".repeat(*length))).collect();
        let (text, notices) = listed(&skills, most);
        prop_assert!(text.chars().count() <= most.max(INTRODUCTION.len() + 60));
        let is_whole = lengths.iter().all(|length| text.contains(&format!(">{}<", escape(&"<".repeat(*length)))) || skills.is_empty());
        prop_assert_eq!(notices.is_empty(), is_whole && text.matches("<skill>").count() == skills.len());
    }
}
