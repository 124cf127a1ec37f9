//! Comma-separated values (RFC 4180).
//!
//! Invariant: every record has as many fields as it is given, and a reader of CSV gets each text back as it
//! is.

/// Returns the records, each ended by a line feed. A field with a comma, a quote or a line end is quoted.
pub(super) fn written(records: &[Vec<String>]) -> String {
    let mut result = String::new();
    for record in records {
        let fields: Vec<String> = record.iter().map(|field| quoted(field)).collect();
        // A record of one empty field is not an empty line.
        let is_empty = fields.iter().all(String::is_empty) && fields.len() == 1;
        result.push_str(if is_empty { "\"\"" } else { "" });
        result.push_str(&fields.join(","));
        result.push('\n');
    }
    result
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn fields_with_marks_are_quoted() {
        let record = |fields: &[&str]| fields.iter().map(|field| (*field).to_owned()).collect();
        let records =
            [record(&["a", "b c", ""]), record(&["x,y", "say \"hi\"", "1\n2"]), record(&[""])];
        assert_eq!(written(&records), "a,b c,\n\"x,y\",\"say \"\"hi\"\"\",\"1\n2\"\n\"\"\n");
    }
}
