//! What is asked, how often, and what comes of each answer; the person is a script.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::kernel::tool::{Risk, Subject};
use crate::product::permission::Decision;
use crate::product::permission::tests::{bash, call, judge, read, rules, write};

/// A question as the script saw it: its scope, and the calls by what they would do.
type Seen = Arc<Mutex<Vec<(Scope, Vec<String>)>>>;

/// A gate whose person gives these answers, one after the other, and then goes away.
fn gate(authority: Authority, asked: &[&str], answers: Vec<Answer>) -> (Watched, Seen) {
    let mut judge = judge(authority);
    judge.ask = rules(asked);
    let seen = Seen::default();
    let (own, answers) = (Arc::clone(&seen), Mutex::new(answers.into_iter()));
    let ask = Arc::new(move |question: Question, sender: oneshot::Sender<Answer>| {
        let calls = question.calls.iter().map(PendingCall::summary).collect();
        own.lock().unwrap().push((question.scope, calls));
        if let Some(answer) = answers.lock().unwrap().next() {
            sender.send(answer).unwrap();
        }
    });
    (Watched { rights: Arc::new(Rights::new(judge)), ask, worker: None, remembered: None, turn: Arc::default() }, seen)
}

fn words(verdicts: &[Verdict]) -> Vec<&str> {
    let word = |verdict| match verdict {
        &Verdict::Allow => "allow",
        Verdict::Deny(denial) => denial.reason.as_str(),
    };
    verdicts.iter().map(word).collect()
}

fn one(call: &str) -> Vec<String> {
    vec![call.to_owned()]
}

const UNTOLD: &str = "denied by the user; do not try to reach the same end another way, ask what to do instead";

#[tokio::test]
async fn one_answer_holds_for_all_calls_and_for_the_session() {
    for (grant, reads, writes, runs) in [
        (Grant::All, true, true, true),
        (Grant::Write, true, true, false),
        (Grant::Safe, true, false, false),
        (Grant::None, false, false, false),
    ] {
        let (gate, seen) = gate(Authority::Unasked, &[], vec![Answer::Grant(grant)]);
        for _ in 0..2 {
            let verdicts = gate.decide(&[write("/w/a"), bash("touch ran"), read("/w/a")]).await;
            for (verdict, allowed) in verdicts.iter().zip([writes, runs, reads]) {
                match verdict {
                    Verdict::Allow => assert!(allowed, "{grant:?}"),
                    Verdict::Deny(denial) => {
                        assert!(!allowed && denial.reason.starts_with("denied by the user: "), "{denial:?}");
                        assert_eq!(denial.by, DeniedBy::User);
                    }
                }
            }
        }
        assert_eq!(*seen.lock().unwrap(), [(Scope::Session, vec!["/w/a".to_owned(), "touch ran".to_owned()])]);
        assert_eq!((gate.rights.grant(), gate.rights.take_unsaved()), (Some(grant), Some(grant.into())));
        assert_eq!(gate.rights.take_unsaved(), None, "it is kept once");
    }
}

#[tokio::test]
async fn what_is_safe_or_denied_is_not_asked_about() {
    let (gate, seen) = gate(Authority::Unasked, &[], vec![]);
    gate.rights.remember(rules(&["execute_bash(touch *)"]).remove(0));
    let verdicts = gate.decide(&[read("/w/a"), write("/etc/passwd"), bash("touch a")]).await;
    assert!(words(&verdicts)[1].contains("outside the workspace"), "{verdicts:?}");
    assert_eq!((verdicts.first(), verdicts.last()), (Some(&Verdict::Allow), Some(&Verdict::Allow)));
    assert!(seen.lock().unwrap().is_empty() && gate.decide(&[]).await.is_empty());
}

#[tokio::test]
async fn no_answer_but_a_grant_holds_for_long() {
    for (answer, expected) in [
        (Answer::Once, "allow"),
        (Answer::Always, "allow"),
        (Answer::Reject { reason: None }, UNTOLD),
        (Answer::Reject { reason: Some(" ".into()) }, UNTOLD),
        (Answer::Reject { reason: Some("too loud".into()) }, "denied by the user: too loud"),
        (Answer::Say("use make".into()), "denied by the user: use make"),
    ] {
        let (gate, seen) = gate(Authority::Unasked, &[], vec![answer.clone(), answer]);
        for asked in 1..=2 {
            let verdicts = gate.decide(&[bash("ls"), read("/w/a"), bash("du")]).await;
            assert_eq!(words(&verdicts), [expected, "allow", expected]);
            assert_eq!((seen.lock().unwrap().len(), gate.rights.take_unsaved()), (asked, None));
        }
    }
}

#[tokio::test]
async fn where_each_call_is_asked_about_each_has_an_answer() {
    let answers = vec![Answer::Once, Answer::Reject { reason: Some("not that".into()) }, Answer::Once];
    let (gate, seen) = gate(Authority::AskEach, &[], answers);
    let verdicts = gate.decide(&[bash("touch one"), read("/w/a"), bash("rm x; ls"), write("/w/src/a")]).await;
    assert_eq!(words(&verdicts), ["allow", "allow", "denied by the user: not that", "allow"]);
    let offer = |rule: &str| Scope::Call { always: Some(rule.to_owned()) };
    assert_eq!(
        *seen.lock().unwrap(),
        [
            (offer("execute_bash(touch *)"), one("touch one")),
            (Scope::Call { always: None }, one("rm x; ls")),
            (offer("write_file(src/**)"), one("/w/src/a")),
        ]
    );
    assert_eq!(gate.rights.grant(), None);
}

#[tokio::test]
async fn always_settles_the_calls_behind_it_and_later_ones() {
    let (gate, seen) = gate(Authority::AskEach, &[], vec![Answer::Always, Answer::Once]);
    let verdicts = gate.decide(&[bash("touch one"), bash("touch two"), bash("mkdir three")]).await;
    assert_eq!(words(&verdicts), ["allow", "allow", "allow"]);
    assert_eq!(words(&gate.decide(&[bash("touch four")]).await), ["allow"]);
    assert_eq!(seen.lock().unwrap().len(), 2);
    assert!(words(&gate.decide(&[bash("touch five; rm six")]).await)[0].contains("nobody answered"));
}

#[tokio::test]
async fn always_is_not_offered_where_it_would_not_help() {
    let (gate, seen) = gate(Authority::AskEach, &["execute_bash(git push *)"], vec![Answer::Once; 4]);
    let hook = call("write_file", Risk::Write, Subject::Write(vec!["/w/.git/hooks/x".into()]));
    let calls = [bash("git push origin"), hook, write("/w/.viola.json"), bash("echo $(ls)")];
    assert_eq!(words(&gate.decide(&calls).await), ["allow"; 4]);
    assert!(seen.lock().unwrap().iter().all(|(scope, _)| *scope == Scope::Call { always: None }), "{seen:?}");
}

#[tokio::test]
async fn an_ask_rule_asks_under_a_grant_but_not_twice_in_a_batch() {
    let rule = ["execute_bash(git reset *)"];
    let (first, seen) = gate(Authority::Unasked, &rule, vec![Answer::Grant(Grant::All), Answer::Once]);
    let calls = [bash("git reset --hard"), bash("ls")];
    assert_eq!(words(&first.decide(&calls).await), ["allow", "allow"]);
    assert_eq!(seen.lock().unwrap().len(), 1);
    assert_eq!(words(&first.decide(&calls).await), ["allow", "allow"]);
    assert_eq!(seen.lock().unwrap()[1..], [(Scope::Call { always: None }, one("git reset --hard"))]);

    let (second, _) = gate(Authority::Unasked, &rule, vec![Answer::Grant(Grant::Write)]);
    assert_eq!(words(&second.decide(&calls).await)[0], UNTOLD, "the answer says so much and no more");
}

#[tokio::test]
async fn a_grant_can_answer_a_single_question_and_come_at_any_time() {
    let (gate, seen) = gate(Authority::AskEach, &[], vec![Answer::Grant(Grant::Write)]);
    let verdicts = gate.decide(&[write("/w/a"), write("/w/b"), bash("ls")]).await;
    assert_eq!(words(&verdicts)[..2], ["allow", "allow"]);
    assert!(words(&verdicts)[2].starts_with("denied by the user: only write tools"), "{verdicts:?}");
    assert_eq!((seen.lock().unwrap().len(), gate.rights.word()), (1, "write"));
    gate.rights.set_grant(Grant::All);
    assert_eq!(words(&gate.decide(&[bash("ls")]).await), ["allow"]);
    assert_eq!((gate.rights.take_unsaved(), gate.rights.word()), (Some(Grant::All.into()), "all"));
    gate.rights.set_grant(Grant::All);
    gate.rights.ask_each();
    assert_eq!((gate.rights.take_unsaved(), gate.rights.word()), (Some(Decision::Ask), "asks each"));
}

#[tokio::test]
async fn a_question_falls_away_with_its_task() {
    let held = Arc::new(Mutex::new(None));
    let own = Arc::clone(&held);
    let ask = Arc::new(move |_: Question, sender| *own.lock().unwrap() = Some(sender));
    let gate = Watched {
        rights: Arc::new(Rights::new(judge(Authority::Unasked))),
        ask,
        worker: None,
        remembered: None,
        turn: Arc::default(),
    };
    {
        let calls = [bash("ls")];
        let mut deciding = gate.decide(&calls);
        let polled = futures_poll(&mut deciding);
        assert!(polled && !held.lock().unwrap().as_ref().unwrap().is_closed());
    }
    let sender: oneshot::Sender<Answer> = held.lock().unwrap().take().unwrap();
    assert!(sender.is_closed() && sender.send(Answer::Grant(Grant::All)).is_err());
    assert_eq!((gate.rights.grant(), gate.rights.take_unsaved()), (None, None));
}

/// Whether a future still waits after one look at it.
fn futures_poll(future: &mut Verdicts<'_>) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    future.as_mut().poll(&mut context).is_pending()
}

#[tokio::test]
async fn what_cannot_be_kept_is_told_and_holds_for_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.json");
    std::fs::write(&file, "{ broken").unwrap();
    let (mut gate, _) = gate(Authority::AskEach, &[], vec![Answer::Always]);
    gate.remembered = Some(Remembered::new(file.clone(), "/w".into()));
    assert_eq!(words(&gate.decide(&[bash("touch a"), bash("touch b")]).await), ["allow", "allow"]);
    let told = gate.rights.take_notices();
    assert!(told.len() == 1 && told[0].text.contains("p.json:1:3"), "{told:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{ broken");
}

fn answers() -> impl Strategy<Value = Answer> {
    let no = prop_oneof![Just(None), "\\PC{0,10}".prop_map(Some)];
    prop_oneof![
        no.prop_map(|reason| Answer::Reject { reason }),
        "\\PC{0,10}".prop_map(Answer::Say),
        Just(Answer::Grant(Grant::None)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_no_never_allows(
        lines in prop::collection::vec("[a-z ;$]{1,8}", 1..5),
        answers in prop::collection::vec(answers(), 0..5),
        each in any::<bool>(),
    ) {
        let authority = if each { Authority::AskEach } else { Authority::Unasked };
        let calls: Vec<_> = lines.iter().map(|line| bash(line)).collect();
        let (gate, _) = gate(authority, &["execute_bash(a*)"], answers);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let verdicts = runtime.block_on(gate.decide(&calls));
        prop_assert_eq!(verdicts.len(), calls.len());
        prop_assert!(verdicts.iter().all(|verdict| *verdict != Verdict::Allow), "{:?}", verdicts);
    }

    #[test]
    fn remembering_never_outweighs_a_deny(line in "[a-z;&|$() '\"]{0,20}", denied in "[a-z*]{1,4}", path in "/w/[a-z./]{0,12}") {
        for call in [bash(&line), write(&path), read(&path)] {
            let mut judge = judge(Authority::AskEach);
            let offers = always::rules(&call, "/w".as_ref());
            judge.remembered = offers;
            judge.deny = rules(&[&format!("execute_bash({denied})"), &format!("*_file({denied}/**)")]);
            if judge.deny.iter().any(|rule| rule.forbids(&call)) {
                prop_assert!(matches!(judge.judge(&call), Judgement::Deny(_)));
            }
        }
    }
}
