//! Similarity of names: suggestions for a name that does not exist.
//!
//! Invariants: time is linear in the number of candidates, which callers limit; the result depends
//! on the names alone.

use crate::limits;

/// The lowest similarity of a suggestion.
const LEAST_RATIO: f64 = 0.4;

/// Returns the candidates that are most similar to `name`, at most [`limits::MAX_SUGGESTIONS`].
/// The similarity is the normalized Levenshtein similarity, plus 1 for a name that begins with `name`, or plus 0.5 for
/// another that contains it. Ties keep the order of `candidates`.
pub fn most_similar<Candidate: AsRef<str>>(
    name: &str,
    candidates: impl IntoIterator<Item = Candidate>,
) -> Vec<Candidate> {
    let name = head(name);
    let mut scored: Vec<(f64, Candidate)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let score = similarity(&name, &head(candidate.as_ref()));
            (score >= LEAST_RATIO).then_some((score, candidate))
        })
        .collect();
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.truncate(limits::MAX_SUGGESTIONS);
    scored.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns whether `name` is probably `other` with one or two letters wrong, or one of them begins with the other.
pub fn is_near(name: &str, other: &str) -> bool {
    let (name, other) = (head(name), head(other));
    let wrong = strsim::damerau_levenshtein(&name, &other);
    let (short, long) = if name.len() < other.len() { (&name, &other) } else { (&other, &name) };
    wrong <= 2 && 3 * wrong <= name.chars().count()
        || short.len() > 2 && long.starts_with(short.as_str())
}

/// Returns the part of a name that is compared, in lower case.
fn head(name: &str) -> String {
    name.chars().take(limits::MAX_COMPARED_CHARS).collect::<String>().to_lowercase()
}

/// Returns the similarity of two names, from 0 to 2.
fn similarity(name: &str, candidate: &str) -> f64 {
    let (short, long) = (name.len().min(candidate.len()), name.len().max(candidate.len()));
    if short * 5 < long && !candidate.contains(name) {
        // The difference in length alone puts the similarity below the limit.
        return 0.0;
    }
    let ratio = strsim::normalized_levenshtein(name, candidate);
    if name.is_empty() {
        ratio
    } else if candidate.starts_with(name) {
        1.0 + ratio
    } else if candidate.contains(name) {
        0.5 + ratio
    } else {
        ratio
    }
}

#[cfg(test)]
mod tests {
    use super::most_similar;

    #[test]
    fn prefixes_come_first_and_dissimilar_names_are_left_out() {
        let names = ["authorization", "author", "auth", "zebra", "outhor"];
        assert_eq!(most_similar("auth", names), ["auth", "author", "authorization", "outhor"]);
        assert!(most_similar("qqqq", names).is_empty());
    }
}
