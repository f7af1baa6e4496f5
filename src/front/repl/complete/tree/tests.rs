//! Trees on a screen, and what keys do to them.

use proptest::prelude::*;

use super::*;
use crate::front::repl::complete::view::line_width;
use crate::front::repl::view::Frame;
use crate::front::repl::view::testing::{look, picture};

fn node(parent: Option<usize>, who: Who, text: &str, is_present: bool) -> Node {
    Node { parent, who, text: text.into(), age: "3 h ago".into(), is_present, ..Node::default() }
}

/// A talk with two branches that were left behind, one of them inside of the other.
fn tree() -> Tree {
    use Who::{Agent, Person, Program};
    let mut nodes = vec![
        node(None, Person, "fix the division test", true),
        node(Some(0), Agent, "I look at the test and the function it calls.", true),
        node(Some(1), Person, "also run clippy", false),
        node(Some(2), Agent, "Clippy is clean.", false),
        node(Some(2), Agent, "Clippy has \u{1b}[2J something to say.", false),
        node(Some(4), Person, "then mend it", false),
        node(Some(1), Person, "commit it with a message that goes on for longer than a row of a screen", true),
        node(Some(6), Program, "folded 12 messages", true),
        node(Some(7), Agent, "Done.", true),
        node(Some(8), Person, "and push", false),
    ];
    nodes[1].tools = "read 2, search".into();
    nodes[3].label = Some("clean".into());
    Tree::new(nodes, Some(8))
}

fn shown(tree: &Tree, width: usize, most: usize) -> String {
    picture(&tree.rows(&look(width), most).rows)
}

fn press(tree: &mut Tree, keys: &[Key]) -> Outcome {
    keys.iter().map(|key| tree.key(*key)).last().unwrap_or(Outcome::Open)
}

fn type_in(tree: &mut Tree, text: &str) {
    text.chars().for_each(|letter| assert_eq!(tree.key(Key::plain(Code::Char(letter))), Outcome::Open));
}

#[test]
fn a_tree_at_three_widths() {
    insta::assert_snapshot!(shown(&tree(), 80, 16));
    insta::assert_snapshot!(shown(&tree(), 40, 16));
    insta::assert_snapshot!(shown(&tree(), 120, 16));
    insta::assert_snapshot!(shown(&tree(), 40, 5));
}

#[test]
fn filters_leave_the_branches_as_they_are() {
    let mut list = tree();
    press(&mut list, &[Key::plain(Code::Tab)]);
    assert_eq!(list.filter, Filter::Talk);
    press(&mut list, &[Key::plain(Code::Tab)]);
    insta::assert_snapshot!(shown(&list, 60, 16));
    press(&mut list, &[Key::plain(Code::Tab)]);
    insta::assert_snapshot!(shown(&list, 60, 16));
    press(&mut list, &[Key::plain(Code::Tab)]);
    assert_eq!((list.filter, list.selected()), (Filter::All, Some(3)));
    type_in(&mut list, "mnd");
    assert_eq!(list.selected(), Some(5));
    type_in(&mut list, "zzz");
    assert_eq!((list.selected(), press(&mut list, &[Key::plain(Code::Enter)])), (None, Outcome::Open));
}

#[test]
fn keys_go_fold_and_choose() {
    let (up, down, left, right, enter) = (
        Key::plain(Code::Up),
        Key::plain(Code::Down),
        Key::plain(Code::Left),
        Key::plain(Code::Right),
        Key::plain(Code::Enter),
    );
    let mut list = tree();
    assert_eq!(list.selected(), Some(8), "it begins where the conversation stands");
    assert_eq!(press(&mut list, &[down, enter]), Outcome::Chosen(9));
    assert_eq!(press(&mut list, &[down, Key::ctrl('f')]), Outcome::Forked(0));
    press(&mut list, &[left]);
    assert_eq!(list.shape.rows.len(), 10, "the trunk does not fold");
    press(&mut list, &[down, down, down, left]);
    assert_eq!((list.selected(), list.shape.rows.len()), (Some(3), 9 + 1), "a branch of one row has nothing to fold");
    press(&mut list, &[up, left]);
    assert_eq!((list.selected(), list.shape.rows.len()), (Some(2), 7));
    insta::assert_snapshot!(shown(&list, 60, 16));
    assert_eq!(press(&mut list, &[down, enter]), Outcome::Chosen(6));
    press(&mut list, &[up, right]);
    assert_eq!(list.shape.rows.len(), 10);
    assert_eq!(press(&mut list, &[Key::plain(Code::Esc)]), Outcome::Closed);
}

#[test]
fn a_label_is_written_in_the_list() {
    let mut list = tree();
    press(&mut list, &[Key::ctrl('t')]);
    type_in(&mut list, "good x");
    press(&mut list, &[Key::ctrl('w')]);
    insta::assert_snapshot!(shown(&list, 60, 8));
    assert_eq!(press(&mut list, &[Key::plain(Code::Enter)]), Outcome::Labelled(8, "good".to_owned()));
    assert_eq!(list.nodes[8].label.as_deref(), Some("good"));
    press(&mut list, &[Key::ctrl('t'), Key::ctrl('u')]);
    assert_eq!(press(&mut list, &[Key::plain(Code::Enter)]), Outcome::Labelled(8, String::new()));
    press(&mut list, &[Key::ctrl('t')]);
    list.paste("pasted\nmore");
    assert_eq!(press(&mut list, &[Key::plain(Code::Esc)]), Outcome::Open);
    assert_eq!((list.nodes[8].label.as_deref(), list.query.text()), (None, ""));
}

#[test]
fn where_nothing_is_present_all_hangs_from_the_beginning() {
    let nodes = vec![node(None, Who::Person, "one", false), node(Some(0), Who::Agent, "answer", false)];
    insta::assert_snapshot!(shown(&Tree::new(nodes, None), 40, 8));
    assert!(shown(&Tree::new(Vec::new(), None), 40, 8).contains("nothing fits"));
}

#[test]
fn a_long_and_deep_tree_is_laid_out_at_once() {
    let nodes: Vec<Node> =
        (0..100_000usize).map(|at| node(at.checked_sub(1), Who::Agent, "text", at < 50_000)).collect();
    let mut list = Tree::new(nodes, Some(49_999));
    type_in(&mut list, "x");
    assert_eq!(list.shape.rows.len(), 100_000, "every text has it");
    // Every node is a branch inside of the one before.
    let nodes: Vec<Node> = (0..2_000usize)
        .flat_map(|at| {
            let parent = at.checked_sub(1).map(|at| at * 2);
            [node(parent, Who::Agent, "a", false), node(parent, Who::Agent, "b", false)]
        })
        .collect();
    let list = Tree::new(nodes, None);
    assert!(list.rows(&look(60), 10).rows.iter().all(|row| line_width(row) <= 60));
}

fn nodes() -> impl Strategy<Value = Vec<Node>> {
    let one = (any::<prop::sample::Index>(), "[\\PC\\pC]{0,12}", "\\PC{0,6}", any::<bool>(), 0..3u8);
    prop::collection::vec(one, 0..24).prop_map(|all| {
        let mut nodes: Vec<Node> = Vec::new();
        for (parent, text, more, has_label, who) in all {
            let parent = (!nodes.is_empty() && who != 2).then(|| parent.index(nodes.len()));
            let who = [Who::Person, Who::Agent, Who::Program][usize::from(who)];
            let label = has_label.then(|| more.as_str().into());
            nodes.push(Node { tools: more.as_str().into(), label, ..node(parent, who, &text, false) });
        }
        nodes
    })
}

proptest! {
    #[test]
    fn whatever_the_tree_and_the_keys_each_node_has_one_row_and_every_row_fits(
        mut nodes in nodes(),
        here in any::<prop::sample::Index>(),
        keys in prop::collection::vec((prop::sample::select(vec![
            Code::Char('a'), Code::Char('t'), Code::Backspace, Code::Up, Code::Down, Code::PageDown, Code::End, Code::Tab,
            Code::Left, Code::Right, Code::Enter, Code::Esc,
        ]), any::<bool>()), 0..12),
        width in 0usize..90,
        most in 0usize..12,
    ) {
        let here = (!nodes.is_empty()).then(|| here.index(nodes.len()));
        let mut at = here;
        while let Some(place) = at {
            nodes[place].is_present = true;
            at = nodes[place].parent;
        }
        let mut list = Tree::new(nodes.clone(), here);
        let mut rows: Vec<usize> = list.shape.rows.iter().map(|row| row.node).collect();
        rows.sort_unstable();
        prop_assert!(rows.iter().copied().eq(0..nodes.len()));
        prop_assert_eq!(list.selected().or(here), here.or(list.selected()));
        for (code, ctrl) in keys {
            list.key(Key { code, mods: crate::front::repl::key::Mods { ctrl, ..Default::default() } });
        }
        let Frame { rows, caret } = list.rows(&look(width), most);
        prop_assert!(rows.len() <= most);
        for row in &rows {
            prop_assert!(line_width(row) <= width, "{row:?}");
            prop_assert!(row.spans.iter().all(|span| !span.content.contains(char::is_control)));
        }
        prop_assert!(caret.is_none_or(|caret| usize::from(caret.row) < most && usize::from(caret.column) < width.max(1)));
        prop_assert!(list.selected().is_none_or(|node| node < nodes.len()));
    }
}
