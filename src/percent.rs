//! Percent-encoding, as in URIs.

/// Percent-encodes the bytes of the characters of `text` that are not kept. Calls `is_kept` once for each character, in
/// order.
pub(crate) fn percent_encode(text: &str, mut is_kept: impl FnMut(char) -> bool) -> String {
    let mut result = String::with_capacity(text.len());
    for scalar in text.chars() {
        if is_kept(scalar) {
            result.push(scalar);
        } else {
            for byte in scalar.encode_utf8(&mut [0; 4]).bytes() {
                result.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    result
}
