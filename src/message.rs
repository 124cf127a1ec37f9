//! Messages for people and agents, which may name commands and options.
//!
//! A message is written once, for the command line, and each interface prints it in its own words. Owns the grammar of
//! templates. Only text of the source is a template; names, paths and other data are arguments, and are never parsed.
//! In a template
//!
//! - a command is between backticks, or is the whole template: `` `mdsel read {path} -f raw` ``;
//! - an option is a word such as `--depth` or `-e`;
//! - `{}` is the next argument, in a command one word or the words of a [`Message`]; `{path}` is the path or the
//!   address of a document, which does not begin with a hyphen in a command; `{value}` is a value to give, outside of a
//!   command;
//! - `{A|B}` is A on the command line, and B in a call of a tool; neither has arguments.

use std::borrow::Cow;
use std::fmt;
use std::slice::Iter;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// A text with commands and options, or plain text. Prints as on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// Text that is printed as it is.
    Text(String),
    /// A template with its arguments.
    Template(Box<(&'static str, Vec<Self>)>),
}

/// Makes a [`Message`] of a template and its arguments. Strings and numbers are data, and messages are parts.
macro_rules! message {
    ($template:literal $(, $argument:expr)* $(,)?) => {{
        const { $crate::message::check($template, [$(stringify!($argument)),*].len()) };
        $crate::message::Message::Template(Box::new((
            $template,
            vec![$($crate::message::Argument::message(&$argument)),*],
        )))
    }};
}
pub(crate) use message;

/// How an interface writes what a message names. The default is the command line.
pub(crate) trait Wording {
    /// Returns the text for a command, without backticks.
    fn command(&self, command: &Command) -> String {
        command.with("")
    }

    /// Returns the text for an option.
    fn option<'a>(&self, option: &'a str) -> Cow<'a, str> {
        option.into()
    }

    /// Returns a value as the user gives it.
    fn value(&self, text: &str) -> String {
        shell_word(text)
    }

    /// Returns the one of two texts that this interface prints.
    fn choose<'a>(&self, command_line: &'a str, _tool: &'a str) -> &'a str {
        command_line
    }
}

/// The words of the command line.
struct CommandLine;

impl Wording for CommandLine {}

/// Returns the name of the argument or key for an option, which is given without the hyphens before it.
pub(crate) fn argument_of(option: &str) -> String {
    option.chars().map(|it| if it == '-' { '_' } else { it }).collect()
}

/// The command line with the options that name the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InStore<'a> {
    /// The options, with a blank before each.
    pub(crate) options: &'a str,
}

impl Wording for InStore<'_> {
    fn command(&self, command: &Command) -> String {
        command.in_store(self.options)
    }
}

/// A command of this program.
pub(crate) struct Command {
    /// The words after the name of the program.
    pub(crate) words: Vec<Word>,
}

/// A word of a command.
pub(crate) enum Word {
    /// A word of a template: the name of a command or of an option, or a value.
    Given(String),
    /// An argument.
    Argument(String),
    /// The path or the address of a document.
    Path(String),
}

impl Word {
    /// Returns the word without quotes.
    pub(crate) fn text(&self) -> &str {
        let (Self::Given(text) | Self::Argument(text) | Self::Path(text)) = self;
        text
    }

    /// Returns the word as one word of a shell command.
    fn quoted(&self) -> String {
        match self {
            Self::Given(text) => shell_value(text),
            Self::Argument(text) => shell_word(text),
            Self::Path(text) => shell_path(text),
        }
    }
}

impl Command {
    /// Returns the name of the command.
    pub(crate) fn name(&self) -> &str {
        self.words.first().map_or("", Word::text)
    }

    /// Returns whether a message that names the command means it for the store of the answer. A message about a pack names
    /// `dump` for the store that the pack is of.
    fn uses_store(&self) -> bool {
        let name = self.name();
        !["completions", "copy", "dump", "help", "man", "schema"].contains(&name)
            && !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_lowercase())
    }

    /// Returns the line for a shell, with `options` after the name of the command if it uses a store.
    pub(crate) fn in_store(&self, options: &str) -> String {
        self.with(if self.uses_store() { options } else { "" })
    }

    /// Returns the line for a shell, with `options` after the name of the command.
    fn with(&self, options: &str) -> String {
        let rest = self.words.iter().skip(1).map(|word| format!(" {}", word.quoted()));
        format!("mdsel {}{options}{}", self.name(), rest.collect::<String>())
    }

    /// Adds the words of `template`.
    fn extend(&mut self, template: &str, arguments: &mut Iter<'_, Message>) {
        let mut rest = template.trim_start();
        while !rest.is_empty() {
            let (word, after) = match rest.strip_prefix('\'') {
                Some(quoted) => quoted.split_once('\'').unwrap_or((quoted, "")),
                None => rest.split_once(' ').unwrap_or((rest, "")),
            };
            rest = after.trim_start();
            match (word, arguments.as_slice().first()) {
                ("{}" | "{path}", Some(argument)) => {
                    arguments.next();
                    match argument {
                        Message::Text(text) if word == "{}" => {
                            self.words.push(Word::Argument(text.clone()));
                        }
                        Message::Text(text) => self.words.push(Word::Path(text.clone())),
                        Message::Template(part) => self.extend(part.0, &mut part.1.iter()),
                    }
                }
                _ => self.words.push(Word::Given(word.to_owned())),
            }
        }
    }
}

/// The text that an interface prints for a message.
struct Writer<'a> {
    wording: &'a dyn Wording,
    text: String,
}

impl Writer<'_> {
    fn message(&mut self, message: &Message) {
        match message {
            Message::Text(text) => self.text.push_str(text),
            Message::Template(part) => self.template(part.0, &mut part.1.iter()),
        }
    }

    fn command(&mut self, template: &str, arguments: &mut Iter<'_, Message>) {
        let mut command = Command { words: Vec::new() };
        command.extend(template, arguments);
        self.text.push_str(&self.wording.command(&command));
    }

    fn template(&mut self, template: &str, arguments: &mut Iter<'_, Message>) {
        if let Some(command) = template.strip_prefix("mdsel ") {
            return self.command(command, arguments);
        }
        let (mut rest, mut is_code, mut is_start) = (template, false, true);
        while let Some(scalar) = rest.chars().next() {
            let mut length = scalar.len_utf8();
            if let Some((command, _)) =
                rest.strip_prefix("`mdsel ").and_then(|it| it.split_once('`'))
            {
                self.text.push('`');
                self.command(command, arguments);
                self.text.push('`');
                length = command.len() + "`mdsel `".len();
            } else if let Some((place, _)) =
                rest.strip_prefix('{').and_then(|it| it.split_once('}'))
            {
                length = place.len() + "{}".len();
                match (place.split_once('|'), arguments.as_slice().first()) {
                    (Some((command_line, tool)), _) => {
                        self.template(self.wording.choose(command_line, tool), arguments);
                    }
                    (None, Some(argument)) if matches!(place, "" | "path" | "value") => {
                        arguments.next();
                        if place == "value" {
                            let text = argument.render(self.wording);
                            self.text.push_str(&self.wording.value(&text));
                        } else {
                            self.message(argument);
                        }
                    }
                    // JSON has braces, too.
                    _ => {
                        self.text.push(scalar);
                        length = 1;
                    }
                }
            } else if let Some(option) = option_in(rest).filter(|_| is_start && !is_code) {
                self.text.push_str(&self.wording.option(option));
                length = option.len();
            } else {
                self.text.push(scalar);
                is_code ^= scalar == '`';
            }
            is_start = scalar.is_whitespace() || scalar == '(';
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

/// Returns the option at the start of `text`.
fn option_in(text: &str) -> Option<&str> {
    let name = text.trim_start_matches('-');
    let hyphens = text.len() - name.len();
    let end = name.find(|it: char| !it.is_ascii_alphabetic() && it != '-').unwrap_or(name.len());
    let after = name.get(end..)?.trim_start_matches(['.', ',', ';', ')']);
    let is_end = after.chars().next().is_none_or(char::is_whitespace);
    let is_option = match hyphens {
        1 => end == 1,
        hyphens => hyphens == 2 && end > 0,
    };
    (is_option && is_end).then(|| text.get(..hyphens + end)).flatten()
}

impl Message {
    /// Returns the text in the words of an interface.
    pub(crate) fn render(&self, wording: &dyn Wording) -> String {
        let mut writer = Writer { wording, text: String::new() };
        writer.message(self);
        writer.text
    }

    /// Returns whether a template of the message contains `text`.
    pub(crate) fn names(&self, text: &str) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Template(part) => part.0.contains(text) || part.1.iter().any(|it| it.names(text)),
        }
    }

    /// Replaces each part that is the template `from`.
    pub(crate) fn replace_part(&mut self, from: &'static str, to: &'static str) {
        if let Self::Template(part) = self {
            part.0 = if part.0 == from { to } else { part.0 };
            part.1.iter_mut().for_each(|it| it.replace_part(from, to));
        }
    }

    /// Replaces `from` with `to` in the data of the message.
    pub(crate) fn replace(&mut self, from: &str, to: &str) {
        match self {
            Self::Text(text) => *text = text.replace(from, to),
            Self::Template(part) => part.1.iter_mut().for_each(|it| it.replace(from, to)),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(&CommandLine))
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Message {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&'static str> for Message {
    fn from(template: &'static str) -> Self {
        Self::Template(Box::new((template, Vec::new())))
    }
}

/// What fills a place of a template.
pub(crate) trait Argument {
    /// Returns it as a message.
    fn message(&self) -> Message;
}

impl Argument for Message {
    fn message(&self) -> Message {
        self.clone()
    }
}

impl<T: Argument + ?Sized> Argument for &T {
    fn message(&self) -> Message {
        (*self).message()
    }
}

macro_rules! data {
    ($($type:ty),*) => {
        $(impl Argument for $type {
            fn message(&self) -> Message {
                Message::Text(self.to_string())
            }
        })*
    };
}
data!(str, String, Cow<'_, str>, char, usize, u64);

/// Fails to compile if `template` does not have `count` places.
pub(crate) const fn check(template: &str, count: usize) {
    let bytes = template.as_bytes();
    let (mut at, mut places) = (0, 0);
    while at < bytes.len() {
        let (_, rest) = bytes.split_at(at);
        if matches!(
            rest,
            [b'{', b'}', ..]
                | [b'{', b'p', b'a', b't', b'h', b'}', ..]
                | [b'{', b'v', b'a', b'l', b'u', b'e', b'}', ..]
        ) {
            places += 1;
        }
        at += 1;
    }
    assert!(places == count, "the template has more or fewer places than arguments");
}

/// Quotes `text` as one word of a shell command in a message, because a path in a store may contain any character.
pub(crate) fn shell_word(text: &str) -> String {
    if text.starts_with('-') { quoted(text) } else { shell_value(text) }
}

/// Quotes an option, or its value after `=`, where a leading hyphen needs no quotes.
pub(crate) fn shell_value(text: &str) -> String {
    let is_plain = |scalar: char| scalar.is_ascii_alphanumeric() || "/._-,+=:@%".contains(scalar);
    let is_word = !text.is_empty() && text.chars().all(is_plain);
    if is_word { text.to_owned() } else { quoted(text) }
}

/// Quotes the path or address of a document. Puts `./` before a leading hyphen, so that it is not read as an option.
fn shell_path(path: &str) -> String {
    if path.starts_with('-') { shell_word(&format!("./{path}")) } else { shell_word(path) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_commands_are_quoted_for_the_shell() {
        assert_eq!(shell_word("md,env"), "md,env");
        assert_eq!(shell_word("a; rm -rf '~'"), r"'a; rm -rf '\''~'\'''");
        assert_eq!(shell_word("-x"), "'-x'");
        assert_eq!((shell_value("-x"), shell_value("-x y")), ("-x".into(), "'-x y'".into()));
        assert_eq!((shell_path("-x.md"), shell_path("a b")), ("./-x.md".into(), "'a b'".into()));
    }

    #[test]
    fn arguments_fill_a_template() {
        let options = message!("--collection {}", "a b");
        let ingest = message!("run `mdsel ingest {} {path} --ext ''`", options, "-x.md");
        let text = message!("{}: {} or {use -e|use patterns}, --to x", "`mdsel a` --to", ingest);
        assert_eq!(
            text.to_string(),
            "`mdsel a` --to: run `mdsel ingest --collection 'a b' ./-x.md --ext ''` or use -e, --to x"
        );
        assert_eq!(Message::from("mdsel find '*x y*'").to_string(), "mdsel find '*x y*'");
    }

    /// An interface that marks what it is asked to write.
    struct Marked;

    impl Wording for Marked {
        fn command(&self, command: &Command) -> String {
            command.name().to_uppercase()
        }

        fn option<'a>(&self, option: &'a str) -> Cow<'a, str> {
            format!("<{option}>").into()
        }

        fn value(&self, text: &str) -> String {
            text.to_owned()
        }

        fn choose<'a>(&self, _command_line: &'a str, tool: &'a str) -> &'a str {
            tool
        }
    }

    #[test]
    fn an_interface_writes_commands_and_options() {
        for (template, text) in [
            ("use -e or --to, --no-x; (--y)", "use <-e> or <--to>, <--no-x>; (<--y>)"),
            ("a-b --c.d `x --y` - -ab --", "a-b --c.d `x --y` - -ab --"),
            ("run `mdsel find 'A B'`{, or -n|}.", "run `FIND`."),
            ("mdsel ingest --force", "INGEST"),
        ] {
            assert_eq!(Message::from(template).render(&Marked), text);
        }
        let data = message!("{} and {}", "--to", "`mdsel find x`");
        assert_eq!(data.render(&Marked), "--to and `mdsel find x`");
        let value = message!("write {value} for that", "/a b");
        assert_eq!(
            (value.to_string(), value.render(&Marked)),
            ("write '/a b' for that".into(), "write /a b for that".into())
        );
    }
}
