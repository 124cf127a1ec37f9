//! Recognizes texts that are lists of links, such as "See also" sections.
//!
//! Invariant: a text without links is not a list of links. Inline links, links with a reference and wiki
//! links count; the time is linear in the length of the text.

/// A text is a list of links if at most one in this number of its letters and digits is outside of links.
const OUTSIDE: usize = 4;
/// Number of bytes of a text to examine.
const MOST_BYTES: usize = 2048;

/// Returns whether nearly all words of `text` are in links.
pub(super) fn is_link_list(text: &[u8]) -> bool {
    let text = text.get(..MOST_BYTES).unwrap_or(text);
    let (mut inside, mut outside) = (0, 0);
    // The letters since the last opening bracket.
    let mut since = 0;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b'[' => {
                outside += since;
                since = 0;
            }
            b']' => {
                let close = match text.get(at) {
                    Some(b'(') => Some(b')'),
                    Some(b'[' | b']') => Some(b']'),
                    _ => None,
                };
                let Some(close) = close else { continue };
                inside += since;
                since = 0;
                let rest = text.get(at + 1..).unwrap_or_default();
                let is_wiki = text.get(at) == Some(&b']');
                let target = rest.iter().position(|byte| *byte == close || *byte == b'\n');
                at += 1 + if is_wiki { 0 } else { target.map_or(0, |length| length + 1) };
            }
            _ => since += usize::from(byte.is_ascii_alphanumeric() || !byte.is_ascii()),
        }
    }
    outside += since;
    inside > 0 && outside * OUTSIDE <= inside + outside
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_all_words_of_a_list_of_links_are_links() {
        for text in [
            "- [Install the program](install.md)\n- [Remove it](remove.md#all)\n",
            "* [[Install the program]]\n* [[remove|Remove it]]\n",
            "[Install the program][1], [Remove it][2] and [Update `it`][up]\n",
        ] {
            assert!(is_link_list(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "- [ ] Install the program\n- [x] Remove it\n",
            "See [the guide](guide.md) before you install the program.\n",
            "- [Install](install.md): copies the files into the folder that you name\n",
            "An array `a[i][j]` of numbers, and a call `f[0](x)` of a function in it.\n",
        ] {
            assert!(!is_link_list(text.as_bytes()), "{text}");
        }
    }
}
