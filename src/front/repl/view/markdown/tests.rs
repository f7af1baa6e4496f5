//! Markdown as it is shown: at three widths, rule by rule, and for any text in any pieces.

use super::*;
use crate::base::text::width;
use crate::front::repl::view::theme::{Glyphs, Theme};
use proptest::prelude::*;
use ratatui::style::{Modifier, Style};

const SAMPLE: &str = include_str!("sample.md");

fn look(width: usize) -> Look {
    Look { theme: Theme::ansi(), glyphs: Glyphs::UNICODE, width }
}

fn flat(blocks: &[Block]) -> Vec<Line<'static>> {
    blocks.iter().flatten().cloned().collect()
}

fn words(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| span.content.as_ref()).collect()
}

/// The lines as text, without the margin.
fn text(source: &str) -> String {
    let lines = flat(&render(source, &look(80)));
    lines
        .iter()
        .map(|line| words(line).strip_prefix("  ").unwrap_or_default().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The lines with their styles, as `⟨b:bold⟩`.
fn marked(source: &str, width: usize) -> String {
    let piece = |(text, style): (&str, Style)| {
        let name = style_name(style);
        if name.is_empty() || text.trim().is_empty() { text.to_owned() } else { format!("⟨{name}:{text}⟩") }
    };
    let line =
        |line: &Line<'_>| line.spans.iter().map(|span| piece((&span.content, span.style))).collect::<String>() + "\n";
    flat(&render(source, &look(width))).iter().map(line).collect()
}

fn style_name(style: Style) -> String {
    let names = [
        (Modifier::BOLD, "b"),
        (Modifier::DIM, "d"),
        (Modifier::ITALIC, "i"),
        (Modifier::UNDERLINED, "u"),
        (Modifier::CROSSED_OUT, "s"),
    ];
    let mut name: String =
        names.iter().filter(|(modifier, _)| style.add_modifier.contains(*modifier)).map(|(_, name)| *name).collect();
    name.extend(style.fg.map(|colour| colour.to_string().to_lowercase()));
    name
}

/// All rows that a terminal of this width would show.
fn rows(blocks: &[Block], width: usize) -> Vec<String> {
    let mut rows = Vec::new();
    flat(blocks).iter().for_each(|line| wrap::rows(line, width, &mut rows));
    rows.iter().map(words).collect()
}

/// What the stream hands out when the text comes in pieces that end at `cuts`, in letters.
fn streamed(source: &str, cuts: &[usize], look: &Look) -> Vec<Block> {
    let letters: Vec<char> = source.chars().collect();
    let (mut stream, mut blocks, mut from) = (Stream::new(), Vec::new(), 0);
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (letters.len() + 1)).collect();
    ends.sort_unstable();
    for end in ends.into_iter().chain([letters.len()]) {
        blocks.extend(stream.push(&letters[from..end].iter().collect::<String>(), look));
        from = end;
    }
    blocks.extend(stream.finish(look));
    blocks
}

#[test]
fn a_rich_answer_at_three_widths() {
    for columns in [40, 80, 120] {
        insta::assert_snapshot!(format!("sample_{columns}"), marked(SAMPLE, columns));
    }
    insta::assert_snapshot!("rows_40", rows(&render(SAMPLE, &look(40)), 40).join("\n"));
}

#[test]
fn without_unicode_every_mark_has_a_stand_in() {
    let ascii = Look { glyphs: Glyphs::ASCII, ..look(40) };
    let lines = flat(&render("> - [x] a\n> - b\n\n---\n\n| a | b |\n|---|---|\n| c | d |", &ascii));
    let shown: Vec<String> = lines.iter().map(words).collect();
    assert_eq!(shown, ["  | [x] a", "  | - b", "", "  --------", "", "  a  b", "  -  -", "  c  d"]);
}

#[test]
fn paragraphs_are_one_line_and_committed_at_the_blank_line() {
    let mut stream = Stream::new();
    let look = look(20);
    assert!(stream.push("one **two", &look).is_empty());
    assert!(stream.push("** three and some more\n", &look).is_empty());
    assert_eq!(stream.tail(&look, 9).iter().map(words).collect::<Vec<_>>(), ["  one two three and ", "some more"]);
    let blocks = stream.push("\n", &look);
    assert_eq!(flat(&blocks).iter().map(words).collect::<Vec<_>>(), ["  one two three and some more"]);
    assert!(stream.tail(&look, 9).is_empty());
    let blocks = stream.push("next\n\n", &look);
    assert_eq!(flat(&blocks).iter().map(words).collect::<Vec<_>>(), ["", "  next"]);
    assert!(stream.finish(&look).is_empty());
}

#[test]
fn line_ends_of_the_writer_stay_and_those_of_a_margin_go() {
    for (source, shown) in [
        ("Roses are red\nviolets are blue", "Roses are red\nviolets are blue"),
        ("one  \ntwo\\\nthree\\\\\nfour", "one\ntwo\nthree\\\nfour"),
        (
            "This sentence was wrapped by somebody at a margin of seventy columns,\nwhich no terminal has, so that \
             it is one line again, and nothing of it\nis lost.",
            "This sentence was wrapped by somebody at a margin of seventy columns, which no terminal has, so that it is \
             one line again, and nothing of it is lost.",
        ),
        (
            "src/front/repl/view/markdown/inline.rs: emphasis, code and the links\nsrc/front/repl/view/markdown/page.rs: \
             margins, marks and the gaps x",
            "src/front/repl/view/markdown/inline.rs: emphasis, code and the links\nsrc/front/repl/view/markdown/page.rs: \
             margins, marks and the gaps x",
        ),
        (
            "这是一个很长的段落,它在六十列处被某人换行了,因此应该重新变成一行文字\n而且中间没有空格。",
            "这是一个很长的段落,它在六十列处被某人换行了,因此应该重新变成一行文字而且中间没有空格。",
        ),
    ] {
        assert_eq!(text(source), shown);
    }
}

#[test]
fn blocks_are_what_common_mark_says() {
    for (source, shown) in [
        ("a\n# b\nc", "a\n\nb\nc"),
        ("# a #\n#no\n####### no", "a\n#no\n####### no"),
        ("a\nb\n===\nc", "a\nb\nc"),
        ("a\n---\n***\n---", "a\n\n────────\n\n────────"),
        ("C #\nC\\#\nends in #", "C #\nC#\nends in #"),
        ("- a\n- b\n\n- c\n\ntext", "· a\n· b\n\n· c\n\ntext"),
        ("1. a\n1. b\n1. c", "1. a\n2. b\n3. c"),
        ("3) a\n5) b\n7. c", "3) a\n5) b\n7. c"),
        ("text\n2. no item\n1. item", "text\n2. no item\n1. item"),
        ("- a\n  - b\n    - c\n- d", "· a\n  · b\n    · c\n· d"),
        ("- - a\n-\n- b", "· · a\n·\n· b"),
        ("-\n\n  text", "·\n\ntext"),
        ("- a\n\n  b\n\n      code\nc", "· a\n\n  b\n\n    code\n\nc"),
        ("1.  a\n\n    b", "1. a\n\n   b"),
        ("> a\nlazy\n> > b\n\n> c", "│ a\n│ lazy\n│ │ b\n\n│ c"),
        ("> ```\n> a\nb", "│   a\n\nb"),
        ("~~~~ py\n~~~\n```\n~~~~", &format!("{}py\n  ~~~\n  ```", " ".repeat(74))),
        ("```\n\na\n\n\nb\n\n", "  a\n\n\n  b"),
        ("  ```\n    a\n  ```", "    a"),
        ("\tcode\n\n\n\tmore\n\ntext", "  code\n\n\n  more\n\ntext"),
        ("a\n    b", "a\nb"),
        ("a\n```\nb\n```\nc", "a\n\n  b\n\nc"),
        ("[x]: http://y", "[x]: http://y"),
        ("<div>\n  <p>a</p>\n</div>", "<div>\n<p>a</p>\n</div>"),
        ("\\*a\\* &lt;b&gt; a ~ b ~ ~~c~~", "*a* <b> a ~ b ~ c"),
        ("[a `b`](c) [d](d) ![](e) <f@g.h>", "a `b` (c) d e f@g.h"),
        ("", ""),
        ("\n \n\t\n", ""),
    ] {
        assert_eq!(text(source), shown, "{source:?}");
    }
}

#[test]
fn tables_are_aligned_or_records() {
    for (source, shown) in [
        ("|a|b|\n|-|-|\n|1|2|3|\n|x|\n\nc", "a  b\n─  ─\n1  2\nx\n\nc"),
        ("text\na | b\n--|--:\n1 | 22\nend", "text\n\na   b\n─  ──\n1  22\n\nend"),
        ("|a|\n|-|\n|\\||", "a\n─\n|"),
        ("|a|b|\n|-|", "|a|b|\n|-|"),
        ("a\n-", "a"),
    ] {
        assert_eq!(text(source), shown, "{source:?}");
    }
    let wide = format!("|Name|Value|\n|-|-|\n|x|{0}|\n|y||\n", "long ".repeat(20));
    assert_eq!(text(&wide), format!("Name: x\nValue: {}\n\nName: y", "long ".repeat(20).trim()));
}

#[test]
fn a_long_table_is_committed_in_parts() {
    let mut stream = Stream::new();
    let look = look(80);
    let mut shown = stream.push("| n | text |\n|--:|---|\n", &look);
    for row in 0..500 {
        shown.extend(stream.push(&format!("| {row} | row |\n"), &look));
        assert!(stream.tail(&look, usize::MAX).len() < 210);
    }
    shown.extend(stream.finish(&look));
    let lines: Vec<String> = flat(&shown).iter().map(words).collect();
    assert_eq!(lines.len(), 502);
    assert_eq!(lines.first().map(String::as_str), Some("    n  text"));
    assert_eq!(lines.last().map(String::as_str), Some("  499  row"));
}

#[test]
fn what_runs_on_is_committed_in_parts() {
    for (piece, words_only) in [("word ", true), ("word\n", true), ("- item of a list\n", false), ("天", true)] {
        let (mut stream, look, mut shown) = (Stream::new(), look(80), 0);
        for pushed in 1..4_000 {
            let blocks = stream.push(&piece.repeat(10), &look);
            shown += flat(&blocks).iter().map(|line| words(line).trim().len()).sum::<usize>();
            let back = (pushed * 10 * piece.trim().len()).saturating_sub(shown);
            assert!(stream.line.len() <= MOST_BYTES && (!words_only || back < 3 * MOST_BYTES), "{piece:?}: {back}");
        }
    }
}

#[test]
fn no_sequence_gets_through() {
    let source = "a \u{1b}]52;c;x\u{7} **\u{9b}2J** `\u{202e}b`\n\n```\u{1b}[2J\n\u{1b}c\r\n```\n| \u{7} |\n|---|\n| &#27;[2J &#x9b; &#8238; |\n";
    let look = look(80);
    let lines = flat(&render(source, &look));
    let shown = lines.iter().map(words).collect::<Vec<_>>().join("\n");
    assert!(!shown.contains(|letter: char| letter.is_control() && letter != '\n'), "{shown:?}");
    assert!(shown.contains("␛]52") && shown.contains("␛[2J") && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn the_tail_shows_no_marks_that_mean_nothing_yet() {
    let look = look(80);
    for (so_far, shown) in [
        ("text\n-", "  text"),
        ("text\n--", "  text"),
        ("``", ""),
        ("a **bo", "  a bo"),
        ("a **bold*", "  a bold"),
        ("a **", "  a"),
        ("a `co", "  a `co`"),
        ("a ** 3", "  a ** 3"),
        ("12345678901", "  12345678901"),
        ("```\na\n``", ""),
        ("```\na\n`b", "    `b"),
    ] {
        let mut stream = Stream::new();
        stream.push(so_far, &look);
        assert_eq!(stream.tail(&look, 9).iter().map(words).collect::<Vec<_>>().join("\n"), shown, "{so_far:?}");
    }
    let mut stream = Stream::new();
    stream.push("long ".repeat(100).as_str(), &look);
    assert_eq!(stream.tail(&look, 2).len(), 2);
    assert!(stream.tail(&look, 0).is_empty());
    stream.discard();
    assert!(stream.finish(&look).is_empty());
}

/// Text that looks like Markdown more often than chance would have it.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z天é👩‍💻 .]{1,30}",
        2 => Just("\n".to_owned()),
        1 => Just("\n\n".to_owned()),
        3 => prop::sample::select(vec![
            "- ", "  ", "    ", "1. ", "> ", "# ", "```", "```rust\n", "~~~\n", "**", "*", "`", "_", "~~", "[", "](", ")", "|",
            "\n|--|:-:|\n", "---\n", "===\n", "\\", "  \n", "\t", "&#27;", "<b>", "\u{1b}[2J", "\u{202e}", "\r\n", "- [x] ", "!",
            "\u{200d}", "\u{c}", "#",
        ]).prop_map(str::to_owned),
        1 => "\\PC{0,20}|\\pC{0,4}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_do_not_matter(source in markdown(), cuts in prop::collection::vec(any::<usize>(), 0..20)) {
        let look = look(40);
        prop_assert_eq!(streamed(&source, &cuts, &look), render(&source, &look));
    }

    #[test]
    fn lines_are_clean(source in markdown(), width in 1usize..100) {
        let mut blank = true;
        for line in flat(&render(&source, &look(width))) {
            let shown = words(&line);
            prop_assert!(!shown.contains(char::is_control), "{:?}", shown);
            prop_assert_eq!(shown.trim_end(), shown.as_str());
            prop_assert!(!shown.contains(char::from_u32(0x202e).unwrap()));
            blank &= shown.is_empty();
            prop_assert!(!blank, "begins with a blank line");
        }
    }

    #[test]
    fn the_tail_stands_where_the_commit_will_stand(source in markdown(), width in 1usize..60, most in 0usize..20) {
        let look = look(width);
        let mut stream = Stream::new();
        stream.push(&source, &look);
        let tail = stream.tail(&look, most);
        prop_assert!(tail.len() <= most);
        for row in &tail {
            let shown = words(row);
            prop_assert!(width::width(&shown) <= width.max(2), "{:?}", shown);
            prop_assert!(!shown.contains(char::is_control));
        }
        // A line that has ended is shown as it will be committed.
        let ends = stream.push("\n", &look);
        let whole = stream.tail(&look, usize::MAX);
        let rest = stream.finish(&look);
        prop_assert_eq!(whole.iter().map(words).collect::<Vec<_>>(), rows(&rest, width));
        prop_assert!(ends.iter().all(|block| !block.is_empty()));
    }

    #[test]
    fn no_word_is_lost_or_doubled(marks in prop::collection::vec(prop::sample::select(vec![
        "", "\n", "\n\n", "\n- ", "\n  ", "\n      ", "\n1. ", "\n> ", "\n# ", "\n```\n", "\n---\n", "\n===\n", "**", "*", "_", "~~",
        "`", "\\\n", "\n\t", "\n* * *\n", "&amp;", "<b>", "\n-\n", "\n>\n", "\n   10) ", "[x](y)", " \n"
    ]), 0..40)) {
        let source: String = marks.iter().enumerate().map(|(at, mark)| format!("{mark} w{at}x ")).collect();
        let shown = text(&source);
        let is_word = |word: &&str| word.starts_with('w') && word.ends_with('x');
        let words = |text: &str| text.split(|letter: char| !letter.is_alphanumeric()).filter(is_word).map(str::to_owned).collect::<Vec<_>>();
        prop_assert_eq!(words(&shown), words(&source), "{}", source);
    }

    #[test]
    fn any_text_is_shown(source in "(?s).{0,200}", width in 0usize..90) {
        let look = look(width);
        let blocks = render(&source, &look);
        prop_assert!(source.trim().is_empty() || source.contains(|letter: char| !letter.is_alphanumeric()) || !blocks.is_empty());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pieces_of_long_lines_do_not_matter(
        word in "[a-z*` 天]{1,9}(\\. |\n)?", cuts in prop::collection::vec(any::<usize>(), 0..20)
    ) {
        let look = look(40);
        let source = word.repeat(20_000 / word.len());
        prop_assert_eq!(streamed(&source, &cuts, &look), render(&source, &look));
    }
}
