//! Markdown of answers as HTML: no raw HTML, no picture from elsewhere, and links that only lead to pages and mail.

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html};

/// Where a link may lead; anything else is only words.
const SCHEMES: [&str; 3] = ["http://", "https://", "mailto:"];

/// Appends a text as HTML.
pub fn push(text: &str, page: &mut String) {
    let mut harmless = Harmless::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(text, options).filter_map(|event| harmless.event(event));
    page.push_str("<div class=\"words\">");
    html::push_html(page, events);
    page.push_str("</div>\n");
}

/// Takes out what the writer would pass through.
#[derive(Default)]
struct Harmless {
    /// Of each link that is open: whether it leads anywhere.
    links: Vec<bool>,
}

impl Harmless {
    fn event<'a>(&mut self, event: Event<'a>) -> Option<Event<'a>> {
        match event {
            // What stands in it was written by somebody: it is shown.
            Event::Html(text) | Event::InlineHtml(text) => Some(Event::Text(text)),
            Event::Start(Tag::HtmlBlock) => Some(Event::Start(Tag::CodeBlock(CodeBlockKind::Indented))),
            Event::End(TagEnd::HtmlBlock) => Some(Event::End(TagEnd::CodeBlock)),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let leads = link_type == LinkType::Email || leads(&dest_url);
                self.links.push(leads);
                leads.then_some(Event::Start(Tag::Link { link_type, dest_url, title, id }))
            }
            Event::End(TagEnd::Link) => self.links.pop().unwrap_or_default().then_some(Event::End(TagEnd::Link)),
            // It would be fetched from somewhere; its description stays.
            Event::Start(Tag::Image { .. }) => Some(Event::Text(CowStr::Borrowed("[picture: "))),
            Event::End(TagEnd::Image) => Some(Event::Text(CowStr::Borrowed("]"))),
            // Written as styles, which the page's policy forbids.
            Event::Start(Tag::Table(columns)) => Some(Event::Start(Tag::Table(vec![Alignment::None; columns.len()]))),
            other @ (Event::Start(_)
            | Event::End(_)
            | Event::Text(_)
            | Event::Code(_)
            | Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::TaskListMarker(_)) => Some(other),
        }
    }
}

fn leads(url: &str) -> bool {
    SCHEMES.iter().any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}
