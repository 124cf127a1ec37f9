//! Templates of lines with fields, used both to write and to read a line.
//!
//! Invariant: a line is accepted only if writing its fields produces exactly that line.

use super::value::{id, line, quoted, tags, take_quoted, take_tags, take_value, value};

/// The template of a line. `$` and a letter mark a field: `$i` an id, `$v` a value, `$q` a quoted value, `$t`
/// tags as [`tags`] writes them, `$l` the rest of the line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineShape(pub(crate) &'static str);

impl LineShape {
    /// Returns the line with these `fields`, without a line end.
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

    /// Returns the fields of the line `text`; `None` if it does not match. Ids are returned as written.
    pub(crate) fn read<const FIELDS: usize>(self, text: &str) -> Option<[String; FIELDS]> {
        let mut parts = self.0.split('$');
        let mut rest = text.strip_prefix(parts.next()?)?;
        let mut fields = Vec::with_capacity(FIELDS);
        for part in parts {
            let (form, literal) = part.split_at(1);
            let (field, following) = take(form, rest)?;
            rest = following.strip_prefix(literal)?;
            fields.push(field);
        }
        let fields: [String; FIELDS] = fields.try_into().ok()?;
        (self.write(&fields.each_ref().map(String::as_str)) == text).then_some(fields)
    }
}

/// Parses a field at the start of `text`, and returns it and the rest.
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

/// Parses the tags of a field `$t`.
pub(crate) fn read_tags(field: &str) -> Option<Vec<String>> {
    take_tags(field).map(|(list, _)| list).filter(|list| tags(list) == field)
}

/// Parses the count in a field `$v`; `None` unless it is written without a sign and leading zeros.
pub(crate) fn count(field: &str) -> Option<usize> {
    field.parse().ok().filter(|count: &usize| count.to_string() == field)
}
