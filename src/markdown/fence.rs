//! The parts of a fenced code block (`CommonMark` section 4.5).

use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// A fenced code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The first word of its info string.
    pub language: String,
    /// The lines between the fences.
    pub code: ByteSpan,
    /// The character of the fence, a backtick or a tilde.
    pub mark: char,
    /// The number of fence characters.
    pub length: usize,
    /// Whether the block has a closing fence.
    pub is_closed: bool,
}

/// Parses the fence of `block`, the bytes of a code block. Returns `None` for an indented code
/// block.
pub fn fence_of(block: &[u8]) -> Option<Fence> {
    let start = next_line_start(block, 0);
    let first = trim_line_end(block.get(..start)?).trim_ascii();
    let mark = *first.first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let run = |line: &[u8]| line.iter().take_while(|&&byte| byte == mark).count();
    let length = run(first);
    if length < 3 {
        return None;
    }
    let info = String::from_utf8_lossy(first.get(length..)?).into_owned();
    let mut end = block.len();
    while end > start && matches!(block.get(end - 1), Some(b'\n' | b'\r' | b' ' | b'\t')) {
        end -= 1;
    }
    // The start of the last line that is not blank.
    let before = block.get(start..end)?;
    let last = before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    let closing = before.get(last..)?.trim_ascii();
    let is_closed = run(closing) >= length && run(closing) == closing.len();
    Some(Fence {
        language: info.split_whitespace().next().unwrap_or_default().to_owned(),
        code: ByteSpan::new(start, if is_closed { start + last } else { block.len() }),
        mark: char::from(mark),
        length,
        is_closed,
    })
}

#[cfg(test)]
mod tests {
    use super::fence_of;

    #[test]
    fn language_and_code_of_fences_are_found() {
        for (block, language, code, is_closed) in [
            ("```rust x\nlet a;\n```\n", "rust", "let a;\n", true),
            ("  ~~~~ c++\r\na\r\n~~~\r\n~~~~~ \r\n\r\n", "c++", "a\r\n~~~\r\n", true),
            ("```\n```", "", "", true),
            ("```\na\n\n", "", "a\n\n", false),
            ("```", "", "", false),
        ] {
            let fence = fence_of(block.as_bytes()).unwrap();
            assert_eq!(fence.language, language);
            assert_eq!(&block[fence.code.start..fence.code.end], code);
            assert_eq!(fence.is_closed, is_closed);
        }
        assert_eq!(fence_of(b"    indented\n"), None);
        assert_eq!(fence_of(b""), None);
    }
}
