//! Tests of themes: that they can be read on their backgrounds, and what a wrong file is told.

use super::palette::{Rgb, luminance, of_index};
use super::*;

/// What WCAG 2 asks of text.
const LEAST_CONTRAST: f64 = 4.5;
const BLACK: Rgb = (0, 0, 0);
const WHITE: Rgb = (255, 255, 255);

fn contrast(one: Rgb, other: Rgb) -> f64 {
    let (one, other) = (luminance(one) + 0.05, luminance(other) + 0.05);
    if one > other { one / other } else { other / one }
}

fn rgb(colour: Color) -> Rgb {
    if let Color::Indexed(index) = colour {
        return of_index(index);
    }
    let Color::Rgb(red, green, blue) = colour else { panic!("{colour} is no fixed colour") };
    (red, green, blue)
}

#[test]
fn fixed_colours_can_be_read() {
    for depth in [Depth::True, Depth::Indexed] {
        for (text, behind) in [(DARK, BLACK), (LIGHT, WHITE)] {
            let mut theme = Theme::parse(text, depth).unwrap();
            for (role, style) in theme.roles() {
                let behind = style.bg.map_or(behind, rgb);
                let Some(colour) = style.fg.map(rgb) else { continue };
                let contrast = contrast(colour, behind);
                assert!(contrast >= LEAST_CONTRAST, "{role} {depth:?} on {behind:?}: {contrast:.2}");
            }
        }
    }
}

#[test]
fn without_colour_all_roles_keep_their_weight() {
    for theme in [Theme::ansi(), Theme::dark(Depth::True), Theme::light(Depth::Indexed)] {
        let mut bare = theme.without_colour();
        assert!(bare.roles().iter().all(|(_, style)| style.fg.is_none() && style.bg.is_none()));
        assert!(bare.dim.add_modifier.contains(Modifier::DIM) && bare.person.add_modifier.contains(Modifier::BOLD));
        assert_ne!(bare.added, bare.added_word);
    }
}

#[test]
fn auto_keeps_to_the_users_colours_unless_it_knows_better() {
    let dark = Some(Background::of(30, 30, 46));
    assert_eq!((dark, Background::of(253, 246, 227)), (Some(Background::Dark), Background::Light));
    assert_eq!(Theme::auto(Depth::True, None), Theme::ansi());
    assert_eq!(Theme::auto(Depth::Ansi, dark), Theme::ansi());
    assert_eq!(Theme::auto(Depth::Indexed, dark), Theme::dark(Depth::Indexed));
    assert_ne!(Theme::dark(Depth::Indexed), Theme::light(Depth::Indexed));
    assert!(Theme::NAMES.iter().all(|name| Theme::named(name, Depth::True, None).is_some()));
    assert_eq!(Theme::named("nope", Depth::True, None), None);
}

#[test]
fn a_users_theme_changes_what_it_names() {
    let theme = Theme::parse(
        r##"{"base": "dark", "added": "#50fa7b", "dim": "245 italic", "link": "red on #101 bold"}"##,
        Depth::True,
    );
    let theme = theme.unwrap();
    assert_eq!(theme.added, Style::new().fg(Color::Rgb(0x50, 0xfa, 0x7b)));
    assert_eq!(theme.dim, Style::new().fg(Color::Indexed(245)).add_modifier(Modifier::ITALIC));
    assert_eq!(theme.link, Style::new().fg(Color::Red).bg(Color::Rgb(0x11, 0, 0x11)).add_modifier(Modifier::BOLD));
    assert_eq!(theme.verb, Theme::dark(Depth::True).verb);
    let few = Theme::parse(r##"{"added": "#50fa7b on #000", "dim": "245"}"##, Depth::Ansi).unwrap();
    assert_eq!((few.added, few.dim.fg), (Style::new().fg(Color::LightGreen), Some(Color::DarkGray)));
}

#[test]
fn errors_name_the_key_and_what_was_expected() {
    let wrong = |text: &str| Theme::parse(text, Depth::True).unwrap_err();
    insta::assert_snapshot!([
        r#"{"adde": "red"}"#,
        r#"{"colour\u001b": "red"}"#,
        r#"{"base": "drak"}"#,
        r#"{"dim": 245}"#,
        r#"{"dim": "245 itallic"}"#,
        r#"{"dim": "red blue"}"#,
        r##"{"dim": "#12"}"##,
        r#"{"dim": "red on"}"#,
        r#"{"dim": "red","#,
        "[]",
    ].map(wrong).join("\n"), @r##"
    adde: there is no such role; did you mean added?
    colour␛: there is no such role; the roles are person, agent, verb, added, added_word, removed, removed_word, failure, notice, dim, link, heading, code, selected, matched, keyword, string, number, comment, function, kind
    base: expected one of auto, ansi, dark, light, not "drak"
    dim: expected a style in quotes, not 245
    dim: "itallic" is no word that is known; expected a colour (#rrggbb, 0 to 255, a name such as red or bright-red, default), `on` and a colour, bold, dim, italic, underline, reverse, strike
    dim: "blue" is a second colour; expected a colour (#rrggbb, 0 to 255, a name such as red or bright-red, default), `on` and a colour, bold, dim, italic, underline, reverse, strike
    dim: "#12" is no word that is known; expected a colour (#rrggbb, 0 to 255, a name such as red or bright-red, default), `on` and a colour, bold, dim, italic, underline, reverse, strike
    dim: `on` has no colour behind it; expected a colour (#rrggbb, 0 to 255, a name such as red or bright-red, default), `on` and a colour, bold, dim, italic, underline, reverse, strike
    not a JSON object: EOF while parsing a value at line 1 column 14
    not a JSON object: invalid type: sequence, expected a map at line 1 column 0
    "##);
}
