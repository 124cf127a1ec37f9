//! Comma-separated values (RFC 4180).
//!
//! Invariant: every record has as many fields as it is given, and a reader of CSV gets each text back as it
//! is.

use std::io::{self, Write};

/// Writes a record, ended by a line feed. A field with a comma, a quote or a line end is quoted.
pub(super) fn write_record(out: &mut dyn Write, fields: &[&str]) -> io::Result<()> {
    // A record of one empty field is not an empty line.
    if let [""] = fields {
        out.write_all(b"\"\"")?;
    }
    for (index, field) in fields.iter().enumerate() {
        if index > 0 {
            out.write_all(b",")?;
        }
        if field.contains([',', '"', '\n', '\r']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::write_record;

    #[test]
    fn fields_with_marks_are_quoted() {
        let mut out = Vec::new();
        for record in [&["a", "b c", ""][..], &["x,y", "say \"hi\"", "1\n2"], &[""]] {
            write_record(&mut out, record).unwrap();
        }
        let expected = b"a,b c,\n\"x,y\",\"say \"\"hi\"\"\",\"1\n2\"\n\"\"\n";
        assert_eq!(out, expected);
    }
}
