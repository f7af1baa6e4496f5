//! The grammar of vi's commands: keys in, a command out.
//!
//! Pure and without memory: it is given all keys since the last command, and says whether they are one.

use std::iter::Peekable;
use std::str::Chars;

/// A command with the count before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Counts before operator and motion, multiplied.
    pub count: Option<usize>,
    /// What to do.
    pub verb: Verb,
}

/// What a command does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The caret moves; a selection grows.
    Move(Motion),
    /// Something happens to a part of the text.
    Operate(Operator, Target),
    /// Text is inserted from now on.
    Insert(Place),
    /// Characters become this one.
    Replace(char),
    /// Characters are spelt anew.
    Spell(Spelling),
    /// Lines become one.
    Join,
    /// What was cut out or copied comes after the caret, or before it.
    Put(Place),
    /// The last change is taken back.
    Undo,
    /// The last change is made again, here.
    Repeat,
    /// A selection begins, of characters or lines; or ends.
    Select(Selection),
    /// The selection is this object.
    SelectObject(Object),
    /// The caret goes to the other end of the selection.
    Swap,
    /// Earlier drafts are searched.
    Search,
}

/// What can happen to a part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// It is cut out.
    Delete,
    /// It is cut out, and text is inserted in its place.
    Change,
    /// It is copied.
    Yank,
}

/// A part of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// From the caret to where a motion goes.
    Motion(Motion),
    /// Around the caret.
    Object(Object),
    /// As many lines as are counted.
    Lines,
    /// So many characters: as many as were selected when this was done first.
    Characters(usize),
    /// What is selected.
    Selection,
}

/// Where the caret can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    /// A character to the left.
    Left,
    /// A character to the right.
    Right,
    /// A line up.
    Up,
    /// A line down.
    Down,
    /// To the beginning of the next word.
    WordForward(Words),
    /// To the beginning of the word.
    WordBackward(Words),
    /// To the end of the word.
    WordEnd(Words),
    /// To the beginning of the line.
    LineStart,
    /// To the first character of the line that is no blank.
    LineFilled,
    /// To the end of the line.
    LineEnd,
    /// To the first line, or that of the count.
    FirstLine,
    /// To the last line, or that of the count.
    LastLine,
    /// To a character of the line.
    Find(Find),
    /// The same again, in its own direction or the other one.
    FindAgain {
        /// Whether in the other one.
        reverse: bool,
    },
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// Letters and digits, or marks.
    Small,
    /// What stands between blanks.
    Big,
}

/// A character to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Find {
    /// The character.
    pub letter: char,
    /// Whether to the left.
    pub backward: bool,
    /// Whether the caret stops before it.
    pub till: bool,
}

/// Something around the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// What.
    pub kind: ObjectKind,
    /// With what encloses it: quotes, brackets, blanks behind a word.
    pub around: bool,
}

/// What can be around the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// A word.
    Word(Words),
    /// What stands between two of these, on a line.
    Quote(char),
    /// What stands between these.
    Pair(char, char),
}

/// A place near the caret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the character under it.
    Before,
    /// After the character under it.
    After,
    /// Before the first character of the line that is no blank.
    LineFilled,
    /// At the end of the line.
    LineEnd,
    /// On a new line below.
    Below,
    /// On a new line above.
    Above,
}

/// How characters are spelt anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Upper case for lower case and the reverse.
    Toggled,
    /// Upper case.
    Upper,
    /// Lower case.
    Lower,
}

/// What is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// Characters.
    Characters,
    /// Lines.
    Lines,
}

/// Why there is no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// More keys are needed.
    More,
    /// No command begins so.
    Unknown,
}

/// The largest count; what is more is a slip, and would only take time.
const LARGEST_COUNT: usize = 9_999;

type Keys<'a> = Peekable<Chars<'a>>;

/// The command that `keys` are, while there is a selection or while there is none.
pub fn parse(keys: &str, selecting: bool) -> Result<Command, Stuck> {
    let mut keys = keys.chars().peekable();
    let mut command = Command { count: count(&mut keys), verb: Verb::Undo };
    let letter = next(&mut keys)?;
    command.verb =
        if selecting { while_selecting(letter, &mut keys)? } else { normal(letter, &mut keys, &mut command)? };
    Ok(command)
}

fn next(keys: &mut Keys<'_>) -> Result<char, Stuck> {
    keys.next().ok_or(Stuck::More)
}

/// A number that does not begin with 0: that is a motion.
fn count(keys: &mut Keys<'_>) -> Option<usize> {
    let mut count: Option<usize> = None;
    while let Some(digit) = keys.peek().and_then(|key| key.to_digit(10)).filter(|digit| *digit > 0 || count.is_some()) {
        keys.next();
        let digit = usize::try_from(digit).unwrap_or_default();
        count = Some((count.unwrap_or_default() * 10 + digit).min(LARGEST_COUNT));
    }
    count
}

fn normal(letter: char, keys: &mut Keys<'_>, command: &mut Command) -> Result<Verb, Stuck> {
    let on = |operator, motion| Ok(Verb::Operate(operator, Target::Motion(motion)));
    match letter {
        'd' => operation(letter, Operator::Delete, keys, command),
        'c' => operation(letter, Operator::Change, keys, command),
        'y' => operation(letter, Operator::Yank, keys, command),
        'x' => on(Operator::Delete, Motion::Right),
        'X' => on(Operator::Delete, Motion::Left),
        'D' => on(Operator::Delete, Motion::LineEnd),
        's' => on(Operator::Change, Motion::Right),
        'C' => on(Operator::Change, Motion::LineEnd),
        'S' => Ok(Verb::Operate(Operator::Change, Target::Lines)),
        'Y' => Ok(Verb::Operate(Operator::Yank, Target::Lines)),
        'i' => Ok(Verb::Insert(Place::Before)),
        'a' => Ok(Verb::Insert(Place::After)),
        'I' => Ok(Verb::Insert(Place::LineFilled)),
        'A' => Ok(Verb::Insert(Place::LineEnd)),
        'o' => Ok(Verb::Insert(Place::Below)),
        'O' => Ok(Verb::Insert(Place::Above)),
        'p' => Ok(Verb::Put(Place::After)),
        'P' => Ok(Verb::Put(Place::Before)),
        'u' => Ok(Verb::Undo),
        '.' => Ok(Verb::Repeat),
        _ => either(letter, keys),
    }
}

fn while_selecting(letter: char, keys: &mut Keys<'_>) -> Result<Verb, Stuck> {
    let on = |operator| Ok(Verb::Operate(operator, Target::Selection));
    match letter {
        'd' | 'x' => on(Operator::Delete),
        'c' | 's' => on(Operator::Change),
        'y' => on(Operator::Yank),
        'p' | 'P' => Ok(Verb::Put(Place::Before)),
        'u' => Ok(Verb::Spell(Spelling::Lower)),
        'U' => Ok(Verb::Spell(Spelling::Upper)),
        'o' => Ok(Verb::Swap),
        'i' | 'a' => Ok(Verb::SelectObject(object(letter, keys)?)),
        _ => either(letter, keys),
    }
}

/// What is the same with a selection and without one.
fn either(letter: char, keys: &mut Keys<'_>) -> Result<Verb, Stuck> {
    match letter {
        'r' => Ok(Verb::Replace(next(keys)?)),
        '~' => Ok(Verb::Spell(Spelling::Toggled)),
        'J' => Ok(Verb::Join),
        'v' => Ok(Verb::Select(Selection::Characters)),
        'V' => Ok(Verb::Select(Selection::Lines)),
        '/' | '?' => Ok(Verb::Search),
        _ => Ok(Verb::Move(motion(letter, keys)?)),
    }
}

/// What follows an operator: a motion, an object, or the operator again.
fn operation(
    operator_letter: char,
    operator: Operator,
    keys: &mut Keys<'_>,
    command: &mut Command,
) -> Result<Verb, Stuck> {
    if let Some(inner) = count(keys) {
        command.count = Some((command.count.unwrap_or(1) * inner).min(LARGEST_COUNT));
    }
    let target = match next(keys)? {
        letter if letter == operator_letter => Target::Lines,
        letter @ ('i' | 'a') => Target::Object(object(letter, keys)?),
        letter => Target::Motion(motion(letter, keys)?),
    };
    Ok(Verb::Operate(operator, target))
}

fn motion(letter: char, keys: &mut Keys<'_>) -> Result<Motion, Stuck> {
    Ok(match letter {
        'h' => Motion::Left,
        'l' | ' ' => Motion::Right,
        'k' => Motion::Up,
        'j' => Motion::Down,
        'w' => Motion::WordForward(Words::Small),
        'W' => Motion::WordForward(Words::Big),
        'b' => Motion::WordBackward(Words::Small),
        'B' => Motion::WordBackward(Words::Big),
        'e' => Motion::WordEnd(Words::Small),
        'E' => Motion::WordEnd(Words::Big),
        '0' => Motion::LineStart,
        '^' => Motion::LineFilled,
        '$' => Motion::LineEnd,
        'G' => Motion::LastLine,
        'g' if next(keys)? == 'g' => Motion::FirstLine,
        'f' | 'F' | 't' | 'T' => Motion::Find(Find {
            letter: next(keys)?,
            backward: letter.is_uppercase(),
            till: letter.eq_ignore_ascii_case(&'t'),
        }),
        ';' => Motion::FindAgain { reverse: false },
        ',' => Motion::FindAgain { reverse: true },
        _ => return Err(Stuck::Unknown),
    })
}

fn object(letter: char, keys: &mut Keys<'_>) -> Result<Object, Stuck> {
    let kind = match next(keys)? {
        'w' => ObjectKind::Word(Words::Small),
        'W' => ObjectKind::Word(Words::Big),
        quote @ ('"' | '\'' | '`') => ObjectKind::Quote(quote),
        '(' | ')' | 'b' => ObjectKind::Pair('(', ')'),
        '[' | ']' => ObjectKind::Pair('[', ']'),
        '{' | '}' | 'B' => ObjectKind::Pair('{', '}'),
        '<' | '>' => ObjectKind::Pair('<', '>'),
        _ => return Err(Stuck::Unknown),
    };
    Ok(Object { kind, around: letter == 'a' })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_become_commands() {
        let whole = |count, verb| Ok(Command { count, verb });
        for (keys, parsed) in [
            ("", Err(Stuck::More)),
            ("12", Err(Stuck::More)),
            ("d", Err(Stuck::More)),
            ("2d3", Err(Stuck::More)),
            ("di", Err(Stuck::More)),
            ("g", Err(Stuck::More)),
            ("gx", Err(Stuck::Unknown)),
            ("dz", Err(Stuck::Unknown)),
            ("diz", Err(Stuck::Unknown)),
            ("0", whole(None, Verb::Move(Motion::LineStart))),
            ("10l", whole(Some(10), Verb::Move(Motion::Right))),
            (
                "2d3w",
                whole(Some(6), Verb::Operate(Operator::Delete, Target::Motion(Motion::WordForward(Words::Small)))),
            ),
            ("d0", whole(None, Verb::Operate(Operator::Delete, Target::Motion(Motion::LineStart)))),
            ("3cc", whole(Some(3), Verb::Operate(Operator::Change, Target::Lines))),
            ("r0", whole(None, Verb::Replace('0'))),
            ("99999999999999999999j", whole(Some(LARGEST_COUNT), Verb::Move(Motion::Down))),
        ] {
            assert_eq!(parse(keys, false), parsed, "{keys}");
        }
        assert_eq!(parse("d", true), whole(None, Verb::Operate(Operator::Delete, Target::Selection)));
        assert_eq!(parse("i", true), Err(Stuck::More));
    }

    proptest! {
        #[test]
        fn any_keys_are_read(keys in "\\PC{0,6}", selecting: bool) {
            let _ = parse(&keys, selecting);
        }
    }
}
