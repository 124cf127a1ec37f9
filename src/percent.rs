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

/// Percent-decodes `text` once. Text that is not an escape is kept. If the decoded bytes are
/// not UTF-8, returns `text` unchanged.
pub(crate) fn percent_decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut result = Vec::with_capacity(bytes.len());
    let mut position = 0;
    while let Some(&byte) = bytes.get(position) {
        let escape = (byte == b'%').then(|| text.get(position + 1..position + 3)).flatten();
        match escape.and_then(hex_number).and_then(|number| u8::try_from(number).ok()) {
            Some(decoded) => {
                result.push(decoded);
                position += 3;
            }
            None => {
                result.push(byte);
                position += 1;
            }
        }
    }
    String::from_utf8(result).unwrap_or_else(|_| text.to_owned())
}

/// Returns the number that consists of hexadecimal digits. Unlike `from_str_radix`, takes no sign.
pub(crate) fn hex_number(digits: &str) -> Option<u32> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}
