//! Similarity: what may have been meant instead of a name that there is not.
//!
//! Invariant: the work is bounded by the candidates given, of which callers give a bounded number,
//! and the answer depends on nothing but the names.

use crate::limits;

/// The least similarity that is worth a suggestion.
const LEAST_RATIO: f64 = 0.4;

/// The candidates most similar to `name`, at most [`limits::MAX_SUGGESTIONS`]: those that it begins,
/// or that contain it, first, then by normalized Levenshtein similarity; ties as they were given.
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

/// As much of a name as is compared.
fn head(name: &str) -> String {
    name.chars().take(limits::MAX_COMPARED_CHARS).collect::<String>().to_lowercase()
}

/// How similar two names are, from 0 to 2.
fn similarity(name: &str, candidate: &str) -> f64 {
    let (short, long) = (name.len().min(candidate.len()), name.len().max(candidate.len()));
    if short * 5 < long && !candidate.contains(name) {
        // However well they match, they are not similar enough.
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
    fn prefixes_come_first_and_strangers_not_at_all() {
        let names = ["authorization", "author", "auth", "zebra", "outhor"];
        assert_eq!(most_similar("auth", names), ["auth", "author", "authorization", "outhor"]);
        assert!(most_similar("qqqq", names).is_empty());
    }
}
