//! Counts with their nouns.

use std::fmt::Display;

/// Returns `count` and `noun`, which gets an `s` unless the count is 1: `0 links`, `1 link`, `1.2K words`.
pub(crate) fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn only_one_is_singular() {
        let counts: Vec<String> = (0..3).map(|count| counted(count, "link")).collect();
        assert_eq!(counts, ["0 links", "1 link", "2 links"]);
    }
}
