//! Lines with fields: one shape, by which a line is both written and read.
//!
//! Invariant: a line is read only if it is exactly the one that its fields make.

use super::value::{id, line, quoted, tags, take_quoted, take_tags, take_value, value};

/// The text of a line, in which `$` and a letter stand for a field: `$i` an id, `$v` a value, `$q` a
/// quoted value, `$t` tags as [`tags`] writes them, `$l` what is left of the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape(pub(crate) &'static str);

impl Shape {
    /// The line that `fields` make, without a line end.
    pub(crate) fn write(self, fields: &[&str]) -> String {
        let mut parts = self.0.split('$');
        let mut result = parts.next().unwrap_or_default().to_owned();
        for (part, field) in parts.zip(fields) {
            let (form, literal) = part.split_at(1);
            match form {
                "i" => result.push_str(&id(field)),
                "v" => result.push_str(&value(field)),
                "q" => result.push_str(&quoted(field)),
                "l" => result.push_str(&line(field)),
                _ => result.push_str(field),
            }
            result.push_str(literal);
        }
        result
    }

    /// The fields that make `text`; ids as they stand there.
    pub(crate) fn read<const FIELDS: usize>(self, text: &str) -> Option<[String; FIELDS]> {
        let mut parts = self.0.split('$');
        let mut rest = text.strip_prefix(parts.next()?)?;
        let mut fields = Vec::with_capacity(FIELDS);
        for part in parts {
            let (form, literal) = part.split_at(1);
            let (field, behind) = take(form, rest)?;
            rest = behind.strip_prefix(literal)?;
            fields.push(field);
        }
        let fields: [String; FIELDS] = fields.try_into().ok()?;
        (self.write(&fields.each_ref().map(String::as_str)) == text).then_some(fields)
    }
}

/// Takes a field from the left of `text`.
fn take<'a>(form: &str, text: &'a str) -> Option<(String, &'a str)> {
    match form {
        "v" => take_value(text, &[' ']),
        "q" => take_quoted(text),
        "l" => Some((text.to_owned(), "")),
        "t" => {
            let (_, rest) = take_tags(text)?;
            Some((text.strip_suffix(rest)?.to_owned(), rest))
        }
        _ => {
            let (taken, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
            (!taken.is_empty()).then(|| (taken.to_owned(), rest))
        }
    }
}

/// The tags of a field `$t`.
pub(crate) fn read_tags(field: &str) -> Option<Vec<String>> {
    take_tags(field).map(|(list, _)| list).filter(|list| tags(list) == field)
}

/// The count in a field `$v`.
pub(crate) fn count(field: &str) -> Option<usize> {
    field.parse().ok().filter(|count: &usize| count.to_string() == field)
}
