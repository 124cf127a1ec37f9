//! Writes strict JSON (RFC 8259) with additional escapes.
//!
//! Invariant: text of documents cannot control a terminal. Every character for which [`is_unsafe`] is
//! true is written as a `\u` escape.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use crate::visible::is_unsafe;

/// Writes `value` and a line end, on one line or indented.
pub fn write<Value: Serialize + ?Sized>(
    mut out: impl Write,
    value: &Value,
    is_pretty: bool,
) -> io::Result<()> {
    if is_pretty {
        let formatter = Escaping(PrettyFormatter::new());
        value.serialize(&mut Serializer::with_formatter(&mut out, formatter))?;
    } else {
        let formatter = Escaping(CompactFormatter);
        value.serialize(&mut Serializer::with_formatter(&mut out, formatter))?;
    }
    out.write_all(b"\n")
}

/// Returns `value` as JSON on one line, without a line feed.
pub fn compact<Value: Serialize + ?Sized>(value: &Value) -> String {
    let mut bytes = Vec::new();
    // Serializing our types and writing to memory cannot fail.
    drop(write(&mut bytes, value, false));
    bytes.pop();
    String::from_utf8(bytes).unwrap_or_default()
}

/// A formatter that escapes unsafe characters in strings.
struct Escaping<Inner>(Inner);

macro_rules! delegate {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, writer: &mut W $(, $argument: $type)*) -> io::Result<()> {
            self.0.$name(writer $(, $argument)*)
        })*
    };
}

impl<Inner: Formatter> Formatter for Escaping<Inner> {
    delegate! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if fragment.is_ascii() && !fragment.contains('\u{7F}') {
            return writer.write_all(fragment.as_bytes());
        }
        let mut start = 0;
        for (offset, scalar) in fragment.char_indices().filter(|(_, c)| is_unsafe(*c)) {
            writer.write_all(fragment.get(start..offset).unwrap_or_default().as_bytes())?;
            let mut units = [0; 2];
            for unit in scalar.encode_utf16(&mut units) {
                write!(writer, "\\u{unit:04x}")?;
            }
            start = offset + scalar.len_utf8();
        }
        writer.write_all(fragment.get(start..).unwrap_or_default().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unsafe_characters_are_escaped_and_decode_to_the_same_text() {
        let text = "\u{9b}a\u{202e}\u{2028}\u{e0041}\u{7f}\u{1b}é\"\\\n";
        let json = compact(text);
        assert_eq!(json, r#""\u009ba\u202e\u2028\udb40\udc41\u007f\u001bé\"\\\n""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    proptest! {
        #[test]
        fn every_string_decodes_to_itself(text in any::<String>()) {
            let json = compact(&text);
            prop_assert!(!json.chars().any(is_unsafe));
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
    }
}
