//! Versions in the names of folders and files, such as that of `serde-1.0.228`.

/// What separates a name from its version.
pub(super) const SEPARATORS: [char; 3] = ['-', '@', '_'];

/// Returns the name of a folder or file without its version, such as `serde` for `serde-1.0.228`, and the numbers of the
/// version. The name is empty if it is a version alone, such as `7.4`, `v3`, `2.x` or `version-1.0`.
pub(super) fn name_and_version(whole: &str) -> (&str, Option<Vec<u64>>) {
    if let Some(numbers) = version(whole) {
        return ("", Some(numbers));
    }
    for (separator, _) in whole.match_indices(SEPARATORS) {
        let (name, rest) = whole.split_at_checked(separator).unwrap_or((whole, ""));
        let rest = rest.get(1..).unwrap_or_default();
        // What follows the numbers says which build it is, and is one word before a plus sign.
        let release = rest.split('+').next().unwrap_or_default();
        let (numbers, release) = release.split_once('-').unwrap_or((release, ""));
        if release.contains('-') {
            continue;
        }
        // A number alone may count chapters.
        if !name.is_empty()
            && (numbers.contains('.') || numbers.starts_with(['v', 'V']))
            && let Some(numbers) = version(numbers)
        {
            return (name, Some(numbers));
        }
    }
    (whole, None)
}

/// Returns the numbers of `text`, a version such as `7.4`, `v3`, `2.x` or `version-1.0`.
fn version(text: &str) -> Option<Vec<u64>> {
    let start = text.find(|scalar: char| scalar.is_ascii_digit())?;
    let (name, numbers) = text.split_at_checked(start)?;
    if !["", "v", "v.", "version-", "release-"].contains(&name.to_ascii_lowercase().as_str()) {
        return None;
    }
    let number = |part: &str| if part == "x" { Some(u64::MAX) } else { part.parse().ok() };
    numbers.split('.').map(number).collect()
}
