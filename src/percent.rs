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

/// Returns the number that consists of hexadecimal digits. Unlike `from_str_radix`, takes no sign.
pub(crate) fn hex_number(digits: &str) -> Option<u32> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}
