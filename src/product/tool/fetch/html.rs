//! A page of HTML as Markdown: what a reader would call its content, with addresses that hold outside of it.
//!
//! The tree is cut down before it is turned into text: what is deep, much or long there is a page made to hurt, and the
//! model sees no more of it than a part.

use std::collections::HashMap;
use std::rc::Rc;

use htmd::element_handler::{HandlerResult, Handlers};
use htmd::options::{BulletListMarker, HrStyle, Options};
use htmd::{Element, HtmlToMarkdown};
use markup5ever_rcdom::{Handle, Node, NodeData};

use crate::base::text::cut;
use crate::model::http::Url;

/// Bytes of HTML that are read. The parser takes time that grows with the square of how deep a page is nested.
const MOST_HTML: usize = 2 << 20;
/// How deep elements are nested; pages get to 40. Each level is several calls on the stack.
const MOST_DEPTH: usize = 60;
/// Nodes of a tree; long manuals in one page have some 30,000.
const MOST_NODES: usize = 60_000;
/// Bytes of text: ten times what the model sees of it.
const MOST_TEXT: usize = 512 << 10;
/// Bytes of text from which on `main` or `article` is the page.
const ENOUGH: usize = 200;
/// Bytes of a table's cell; one that is longer belongs to a page that is laid out by tables.
const MOST_CELL: usize = 600;
/// Columns of a table.
const MOST_COLUMNS: usize = 50;

/// What is no content.
const NOISE: [&str; 24] = [
    "script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "embed", "audio", "video", "nav",
    "footer", "aside", "form", "button", "input", "select", "textarea", "dialog", "map", "link", "meta", "title",
];
/// The same, by role.
const NOISY_ROLES: [&str; 6] = ["navigation", "banner", "contentinfo", "search", "dialog", "menu"];

/// A page in Markdown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// The title, on one line; empty where there is none.
    pub title: String,
    /// The content.
    pub text: String,
    /// Whether the page was too large for all of it to be looked at.
    pub is_cut: bool,
}

/// Converts a page that came from `base`.
pub fn convert(html: &str, base: &Url) -> Converted {
    let converter = HtmlToMarkdown::builder()
        .options(Options {
            bullet_list_marker: BulletListMarker::Dash,
            hr_style: HrStyle::Dashes,
            ul_bullet_spacing: 1,
            ol_number_spacing: 1,
            ..Options::default()
        })
        .add_handler(vec!["table"], table)
        .build();
    let read = shallow(cut::head_bytes(html, MOST_HTML));
    // Only a reader of files can fail, and this is none.
    let Ok(document) = converter.html_to_tree(read) else { return Converted::default() };
    let mut shaper = Shaper {
        base: base.clone(),
        nodes: 0,
        text: 0,
        is_cut: read.len() < html.len(),
        title: None,
        main: Vec::new(),
    };
    shaper.shape(&document);
    let Shaper { title, main, is_cut, .. } = shaper;
    let root = match main.as_slice() {
        [only] if text_bytes(only) >= ENOUGH => only,
        _ => &document,
    };
    Converted { title: title.unwrap_or_default(), text: converter.tree_to_markdown(root), is_cut }
}

/// Open elements within each other that a page may have: the parser's time grows with the square of them, and pages that
/// people write have a hundred.
const MOST_OPEN: usize = 2_000;

/// Elements that stand open without a closing tag, or may.
const NEVER_CLOSED: [&str; 22] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option", "p",
    "source", "td", "th", "tr", "track", "wbr", "tbody",
];

/// The beginning of a page, up to where its elements lie too deep within each other. A guess by tags alone: comments and
/// scripts count as well.
fn shallow(html: &str) -> &str {
    let (mut open, mut all) = (HashMap::<String, usize>::new(), 0_usize);
    for (place, _) in html.match_indices('<') {
        let rest = html.get(place + 1..).unwrap_or_default();
        let (is_end, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        let name = rest.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
        let name = name.to_ascii_lowercase();
        if !name.starts_with(|letter: char| letter.is_ascii_alphabetic()) || NEVER_CLOSED.contains(&name.as_str()) {
            continue;
        }
        let same = open.entry(name).or_default();
        if !is_end {
            (*same, all) = (*same + 1, all + 1);
        } else if *same > 0 {
            // An end of what is not open changes nothing.
            (*same, all) = (*same - 1, all - 1);
        }
        if all > MOST_OPEN {
            return html.get(..place).unwrap_or_default();
        }
    }
    html
}

/// Takes noise out of a tree and cuts it down.
struct Shaper {
    base: Url,
    nodes: usize,
    text: usize,
    is_cut: bool,
    title: Option<String>,
    /// Elements that say they are the page.
    main: Vec<Handle>,
}

impl Shaper {
    /// Goes through the tree in the order of the text, without a stack of calls.
    fn shape(&mut self, root: &Handle) {
        let mut open = vec![(Rc::clone(root), 0)];
        while let Some((node, depth)) = open.pop() {
            self.attributes(&node);
            if depth >= MOST_DEPTH {
                flatten(&node);
            }
            node.children.borrow_mut().retain(|child| self.stays(child));
            open.extend(node.children.borrow().iter().rev().map(|child| (Rc::clone(child), depth + 1)));
        }
    }

    fn stays(&mut self, node: &Handle) -> bool {
        self.nodes += 1;
        if self.nodes > MOST_NODES || self.text > MOST_TEXT {
            self.is_cut = true;
            return false;
        }
        match &node.data {
            NodeData::Text { contents } => {
                self.text += contents.borrow().len();
                if self.text > MOST_TEXT {
                    self.is_cut = true;
                }
                true
            }
            NodeData::Element { name, .. } => {
                let tag = &*name.local;
                if tag == "title" && self.title.is_none() {
                    let title = text(node);
                    self.title = Some(title.split_whitespace().collect::<Vec<_>>().join(" "));
                }
                let role = attribute(node, "role").unwrap_or_default();
                let is_hidden = attribute(node, "hidden").is_some()
                    || attribute(node, "aria-hidden").is_some_and(|value| value == "true");
                let is_noise = NOISE.contains(&tag) || NOISY_ROLES.contains(&role.as_str()) || is_hidden;
                if !is_noise && (matches!(tag, "main" | "article") || role == "main") {
                    // An article within the main part is not another one.
                    let is_first = self.main.last().is_none_or(|main| !is_within(node, main));
                    self.main.extend(is_first.then(|| Rc::clone(node)));
                }
                !is_noise
            }
            NodeData::Document => true,
            NodeData::Doctype { .. } | NodeData::Comment { .. } | NodeData::ProcessingInstruction { .. } => false,
        }
    }

    /// Makes links and pictures hold outside of the page; those that lead nowhere lose their address.
    fn attributes(&self, node: &Handle) {
        let NodeData::Element { name, attrs, .. } = &node.data else { return };
        let wanted = match &*name.local {
            "a" => "href",
            "img" => "src",
            _ => return,
        };
        attrs.borrow_mut().retain_mut(|attribute| {
            if &*attribute.name.local != wanted {
                return &*attribute.name.local == "alt";
            }
            let written = attribute.value.trim();
            let joined = self.base.join(written).ok().filter(|url| {
                matches!(url.scheme(), "http" | "https" | "mailto") && !written.starts_with('#') && !written.is_empty()
            });
            match joined {
                Some(url) => {
                    attribute.value = url.as_str().into();
                    true
                }
                None => false,
            }
        });
    }
}

/// A table: a row a line where its cells are short, else one text after the other. htmd's own makes all cells of a column
/// as wide as the widest, which a page can use to fill any memory.
#[expect(clippy::needless_pass_by_value, reason = "htmd gives elements away")]
fn table(handlers: &dyn Handlers, element: Element<'_>) -> Option<HandlerResult> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut rest = String::new();
    let mut open = vec![Rc::clone(element.node)];
    while let Some(node) = open.pop() {
        match tag(&node) {
            "tr" => rows.push(cells(handlers, &node)),
            "caption" => rest.push_str(handlers.walk_children(&node).content.trim()),
            "table" | "thead" | "tbody" | "tfoot" => {
                open.extend(node.children.borrow().iter().rev().map(Rc::clone));
            }
            _ => {}
        }
    }
    rows.retain(|row| row.iter().any(|cell| !cell.is_empty()));
    let is_layout = rows.iter().all(|row| row.len() < 2)
        || rows.iter().flatten().any(|cell| cell.len() > MOST_CELL || cell.contains("\n\n"));
    let mut text = format!("\n\n{rest}\n\n");
    for (at, row) in rows.iter().enumerate() {
        if is_layout {
            row.iter().filter(|cell| !cell.is_empty()).for_each(|cell| text.push_str(&format!("{cell}\n\n")));
            continue;
        }
        let row = || row.iter().take(MOST_COLUMNS);
        row().for_each(|cell| text.push_str(&format!("| {} ", cell.replace('\n', " ").replace('|', "\\|"))));
        text.push_str("|\n");
        if at == 0 {
            row().for_each(|_| text.push_str("| --- "));
            text.push_str("|\n");
        }
    }
    text.push('\n');
    Some(text.into())
}

fn cells(handlers: &dyn Handlers, row: &Handle) -> Vec<String> {
    let children = row.children.borrow();
    let cells = children.iter().filter(|child| matches!(tag(child), "td" | "th"));
    cells.map(|cell| handlers.walk_children(cell).content.trim().to_owned()).collect()
}

fn tag(node: &Node) -> &str {
    match &node.data {
        NodeData::Element { name, .. } => &name.local,
        NodeData::Document
        | NodeData::Doctype { .. }
        | NodeData::Text { .. }
        | NodeData::Comment { .. }
        | NodeData::ProcessingInstruction { .. } => "",
    }
}

fn attribute(node: &Node, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    let attrs = attrs.borrow();
    attrs.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| attribute.value.to_lowercase())
}

fn is_within(node: &Handle, outer: &Handle) -> bool {
    let parent = |node: &Handle| {
        let parent = node.parent.take();
        let found = parent.as_ref().and_then(std::rc::Weak::upgrade);
        node.parent.set(parent);
        found
    };
    std::iter::successors(parent(node), parent).take(MOST_DEPTH + 2).any(|above| Rc::ptr_eq(&above, outer))
}

/// All text below, in order.
fn texts(node: &Handle) -> Vec<Handle> {
    let mut found = Vec::new();
    let mut open = vec![Rc::clone(node)];
    while let Some(node) = open.pop() {
        if let NodeData::Text { .. } = node.data {
            found.push(Rc::clone(&node));
        }
        open.extend(node.children.borrow().iter().rev().map(Rc::clone));
    }
    found
}

fn text(node: &Handle) -> String {
    let mut whole = String::new();
    for node in texts(node) {
        if let NodeData::Text { contents } = &node.data {
            whole.push_str(&contents.borrow());
        }
    }
    whole
}

fn text_bytes(node: &Handle) -> usize {
    text(node).trim().len()
}

/// Leaves nothing below a node but text.
fn flatten(node: &Handle) {
    let texts = texts(node);
    for text in &texts {
        text.parent.set(Some(Rc::downgrade(node)));
    }
    if !texts.iter().any(|text| Rc::ptr_eq(text, node)) {
        *node.children.borrow_mut() = texts;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::{Duration, Instant};

    fn converted(html: &str) -> Converted {
        convert(html, &Url::parse("https://h/docs/page").unwrap())
    }

    fn text(html: &str) -> String {
        converted(html).text
    }

    #[test]
    fn a_page_becomes_markdown() {
        let page = converted(
            "<!doctype html><html><head><title> A\n page </title><style>x{}</style><script>evil()</script></head><body>
             <nav><a href='/home'>Home</a></nav><h1>Title</h1><p>Some <b>bold</b> and <code>code</code>,
             a <a href='../other#part' onclick='x()'>link</a>, <a href='javascript:x()'>none</a> and <a href='#here'>here</a>.</p>
             <ul><li>one<li>two</ul><pre><code class='language-rust'>fn main() {\n    a();\n}</code></pre>
             <img src='/p.png' alt='a picture'><img src='data:image/png;base64,AAAA'><!-- hidden --><p hidden>not shown</p>
             <footer>Imprint</footer></body></html>",
        );
        assert_eq!((page.title.as_str(), page.is_cut), ("A page", false));
        insta::assert_snapshot!(page.text, @r"
        # Title

        Some **bold** and `code`, a [link](https://h/other#part), none and here.

        - one
        - two

        ```rust
        fn main() {
            a();
        }
        ```

        ![a picture](https://h/p.png)
        ");
    }

    #[test]
    fn the_main_part_is_the_page() {
        let long = "word ".repeat(60);
        let page =
            format!("<body><div>Menu</div><main><article><h1>It</h1><p>{long}</p></article></main><div>More</div>");
        let text = text(&page);
        assert!(text.starts_with("# It") && !text.contains("Menu") && !text.contains("More"), "{text}");
        let blog = format!("<body><article>{long} one</article><article>{long} two</article>");
        assert!(converted(&blog).text.contains("one") && converted(&blog).text.contains("two"));
        assert!(converted("<body>Menu<main>short</main>").text.contains("Menu"));
    }

    #[test]
    fn tables_have_rows_and_layouts_have_texts() {
        let table = "<table><tr><th>a<th>b</tr><tr><td>1 | 2<td>x<br>y</tr></table>";
        let text = text(table);
        assert!(text.contains("| a | b |\n| --- | --- |\n| 1 \\| 2 | x"), "{text}");
        let long = "word ".repeat(200);
        let layout = converted(&format!("<table><tr><td>menu<td><p>{long}</p><p>more</p></table>")).text;
        assert!(!layout.contains('|') && layout.contains("menu") && layout.contains("more"), "{layout}");
    }

    #[test]
    fn a_page_made_to_hurt_is_cut_down() {
        let pages = [
            "<div>".repeat(200_000) + "deep",
            "<div></x>".repeat(100_000) + "deep",
            "<div>".repeat(3_000) + "deep",
            "<b id=1><i>".repeat(1_000) + "deep",
            "<ul><li>".repeat(1_000) + &"x\n".repeat(400_000),
            format!("<table><tr>{}</tr>{}", "<td>x".repeat(20_000), "<tr><td>y".repeat(20_000)),
            format!("<table><tr><td>{}<td>y</tr>{}", "x".repeat(400_000), "<tr><td>y<td>z".repeat(10_000)),
            "<b>x</b>".repeat(40_000),
            "<table><tr><td>".repeat(1_000) + "x",
            "<blockquote>".repeat(1_000) + &"a<br>".repeat(30_000),
            "x".repeat(2 * MOST_TEXT),
        ];
        for page in pages {
            let begun = Instant::now();
            let page = converted(&page);
            assert!(page.text.len() < 64 << 20, "{}", page.text.len());
            assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        }
        assert!(converted(&"<div>".repeat(MOST_OPEN + 1)).is_cut);
        assert!(!converted(&"<p>a<br><li>b".repeat(9_000)).is_cut, "what needs no end is not deep");
        assert!(text(&("<div>".repeat(500) + "deep")).contains("deep"), "the text is still there");
    }

    proptest! {
        #[test]
        fn nothing_panics(pieces in prop::collection::vec(prop::sample::select(vec![
            "<table>", "<tr>", "<td>", "<th>", "</table>", "<ul>", "<ol start=-9>", "<li>", "<p>", "</p>", "<a href=x>",
            "<a href=''>", "<pre>", "<code>", "</code>", "<b>", "</b>", "<i>", "<h1>", "<h9>", "<svg>", "<math>", "<title>",
            "<template>", "<select>", "<option>", "&amp;", "&#0;", "<!--", "-->", "<![CDATA[", "<?php", "\0", "ä", "|", "\n",
            "text ", "<img src=x alt=y>", "<main>", "<article>", "</main>", "<br>", "<hr>", "<blockquote>", "<caption>", "<thead>",
        ]), 0..40)) {
            let _ = converted(&pieces.concat());
        }
    }
}
