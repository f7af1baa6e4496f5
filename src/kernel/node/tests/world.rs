//! The node against random worlds: whatever tools, models and people do, every call gets one result and every task ends.

use super::*;

/// How a random world answers the node's effects.
#[derive(Clone, Debug)]
struct World {
    /// One byte a decision.
    choices: Vec<u8>,
    stop_after: usize,
}

fn worlds() -> impl Strategy<Value = World> {
    (proptest::collection::vec(any::<u8>(), 1..120), 0usize..200)
        .prop_map(|(choices, stop_after)| World { choices, stop_after })
}

/// Plays a task in a random world and checks every invariant on the way; tells how often the conversation was folded.
fn play(world: &World) -> usize {
    let small = compact::Settings { reserve_tokens: 500, keep_tokens: 300, ..compaction() };
    let mut node = node(Settings { max_turns: Some(12), compaction: small, ..settings() });
    node.set_model(ModelInfo { window: Some(2_000), ..info() });
    let mut choices = world.choices.iter().copied().cycle();
    let mut choose = |most: u8| choices.next().unwrap_or(0) % most;
    let mut inputs = vec![Input::Submitted(Message::user(QUESTION))];
    let mut running: Vec<usize> = Vec::new();
    let mut answered = Vec::new();
    let mut expected = 0;
    let mut ids = 0;
    let (mut stopped, mut folds) = (false, 0);
    for step in 0..2_000 {
        if step >= world.stop_after && !stopped && !node.is_idle() {
            stopped = true;
            inputs.insert(0, Input::Stopped { why: Stop::Cancelled, partial: String::new() });
        }
        let input = if inputs.is_empty() {
            assert!(!running.is_empty(), "nothing to wait for and not finished");
            let place = running.remove(usize::from(choose(running.len() as u8)));
            let output = any_output(&mut choose);
            Input::ToolFinished { place, output, duration_ms: 0 }
        } else {
            inputs.remove(0)
        };
        if let Input::Replied { reply, .. } = &input {
            expected += reply.content.iter().filter(|part| matches!(part, AssistantPart::ToolUse(_))).count();
        }
        for effect in node.step(input) {
            match effect {
                Effect::Ask(_) => {
                    assert_eq!(answered.len(), expected, "a request while a call is pending");
                    inputs.clear();
                    inputs.push(any_answer(&mut choose, &mut ids));
                }
                Effect::Wait(_) => inputs.push(Input::WaitOver),
                Effect::Prepare(calls) => {
                    let checked = calls.into_iter().map(|call| any_check(call, &mut choose));
                    inputs.push(Input::Prepared(checked.collect()));
                }
                Effect::Decide(calls) => {
                    let few = usize::from(choose(8) == 0);
                    let verdicts = calls.iter().skip(few).map(|_| match choose(3) {
                        0 => Verdict::Deny(Denial { reason: "denied".into(), by: DeniedBy::Nobody }),
                        _ => Verdict::Allow,
                    });
                    inputs.push(Input::Decided(verdicts.collect()));
                }
                Effect::Run { place, .. } => {
                    assert!(!stopped, "a call starts after the stop");
                    running.push(place);
                }
                Effect::KeepResult(result) => {
                    assert!(!answered.contains(&result.call_id), "two results for one call");
                    answered.push(result.call_id);
                }
                Effect::Finish(_) => {
                    assert!(running.is_empty() && answered.len() == expected, "calls are left without a result");
                    check_history(node.history());
                    return folds;
                }
                Effect::NextModel => {
                    let info = (choose(2) == 0).then(info);
                    inputs.push(Input::NextModel { info, passed_over: vec!["no key".into()], notices: Vec::new() });
                }
                Effect::Summarise(summons) => {
                    inputs.clear();
                    inputs.push(any_summary(&mut choose, &summons));
                }
                Effect::Fold(folded) => {
                    folds += 1;
                    assert!(folds <= 200, "it folds for ever");
                    check_fold(&folded, node.history());
                }
                Effect::Keep(_) | Effect::Refuse(_) | Effect::Prune(_) | Effect::Emit(_) | Effect::StopTools => {}
            }
        }
    }
    panic!("the task never ends");
}

/// The question of the random task.
const QUESTION: &str = "go";

fn said_by_person(message: &Message) -> bool {
    *message == Message::user(QUESTION)
}

fn any_check(call: ToolCall, choose: &mut impl FnMut(u8) -> u8) -> Result<PendingCall, String> {
    let subject = match choose(4) {
        0 => return Err("bad".to_owned()),
        1 => Subject::Command("x".into()),
        2 => Subject::Write(vec![PathBuf::from("/w/a")]),
        _ => Subject::Read(vec![PathBuf::from("/w/a")]),
    };
    Ok(PendingCall { limits: Limits { chars: 20_000, lines: 2_000 }, ..pending(call, subject) })
}

fn any_output(choose: &mut impl FnMut(u8) -> u8) -> Output {
    match choose(4) {
        0 | 1 => Output::ok(format!("{}", choose(3))),
        2 => Output::ok("long ".repeat(usize::from(choose(8)) * 500)),
        _ => Output::error("no"),
    }
}

fn check_fold(folded: &compact::Folded, history: &[Arc<Message>]) {
    assert!(folded.pinned.iter().all(|place| *place > folded.kept), "what is pinned is kept already");
    let said = history.iter().filter(|message| said_by_person(message)).count();
    assert_eq!(said, 1, "the question is sent once");
}

/// A summary, a long one, none, or a failure.
fn any_summary(choose: &mut impl FnMut(u8) -> u8, summons: &Summons) -> Input {
    let request = summons.request(Some(4_000), None);
    assert!(request.tools.is_empty() && request.tool_choice == ToolChoice::None && request.messages.len() == 1);
    let result = match choose(8) {
        0 => Err(ModelError::new(ErrorKind::Context, "too long")),
        1 => Err(ModelError::new(ErrorKind::Overload, "busy")),
        2 => Err(ModelError::new(ErrorKind::Auth, "no key")),
        3 => Ok(plain_reply("")),
        4 => Ok(plain_reply(&"rambling ".repeat(3_000))),
        _ => Ok(plain_reply("it went on")),
    };
    Input::Summarised { info: info(), result, dice: 0.5 }
}

/// Words, a failure, or calls, with any ending.
fn any_answer(choose: &mut impl FnMut(u8) -> u8, ids: &mut u32) -> Input {
    let stops = [StopReason::Stop, StopReason::ToolUse, StopReason::Length, StopReason::Refusal];
    let stop = stops[usize::from(choose(4))].clone();
    match choose(5) {
        0 => reply("words", vec![], stop),
        1 => {
            let kinds =
                [ErrorKind::Overload, ErrorKind::Picture, ErrorKind::Seal, ErrorKind::Overload, ErrorKind::Context];
            let error = ModelError::new(kinds[usize::from(choose(5))], "busy");
            Input::ReplyFailed { error, shown: choose(2) == 0, dice: 0.5 }
        }
        _ => {
            let mut next = || {
                *ids += 1;
                call(&format!("c{ids}"), "tool")
            };
            reply("", (0..=choose(4)).map(|_| next()).collect(), stop)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_call_gets_one_result_and_every_task_ends(world in worlds()) {
        play(&world);
    }
}

#[test]
fn random_worlds_do_fold() {
    let mut rng = fastrand::Rng::with_seed(5);
    let worlds =
        std::iter::repeat_with(|| World { choices: (0..100).map(|_| rng.u8(..)).collect(), stop_after: usize::MAX });
    assert!(worlds.take(400).map(|world| play(&world)).sum::<usize>() > 10, "the worlds are too small to say anything");
}
