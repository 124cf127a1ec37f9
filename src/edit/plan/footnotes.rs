//! References to footnotes in text.
//!
//! Invariant: code and escaped brackets have none.

use super::version::Version;
use crate::markdown::outline::{BlockType, NodeKind};
use crate::position::ByteSpan;

/// The labels, with their `^`, of the footnote references at `span`. Code has none.
pub(super) fn footnote_references(version: &Version, span: ByteSpan) -> Vec<ByteSpan> {
    let code = version.outline().nodes.iter();
    let code = code.filter(|node| node.kind == NodeKind::Block(BlockType::Code));
    let code: Vec<ByteSpan> = code.map(|node| node.bytes).collect();
    let text = version.bytes();
    let mut found = Vec::new();
    let mut at = span.start;
    while let Some(byte) = text.get(at).filter(|_| at < span.end) {
        let block = code.get(code.partition_point(|code| code.end <= at));
        if let Some(block) = block.filter(|block| block.start <= at) {
            at = block.end;
        } else if *byte == b'\\' {
            at += 2;
        } else if *byte == b'`' {
            at = after_code_span(text, at, span.end);
        } else if text.get(at..).is_some_and(|rest| rest.starts_with(b"[^")) {
            let rest = text.get(at + 2..span.end).unwrap_or_default();
            let end = rest.iter().position(|byte| b"[] \t\r\n".contains(byte)).unwrap_or(0);
            if end > 0 && rest.get(end) == Some(&b']') {
                found.push(ByteSpan::new(at + 1, at + 2 + end));
            }
            at += 2 + end;
        } else {
            at += 1;
        }
    }
    found
}

/// The offset after the code span that the backticks at `at` open, or after the backticks (`CommonMark` 0.31.2,
/// section 6.1).
fn after_code_span(text: &[u8], at: usize, end: usize) -> usize {
    let run = |at: usize| {
        let rest = text.get(at..end).unwrap_or_default();
        rest.iter().take_while(|byte| **byte == b'`').count()
    };
    let opening = run(at);
    let mut close = at + opening;
    let mut is_blank = false;
    while let Some(byte) = text.get(close).filter(|_| close < end) {
        match byte {
            b'`' => {
                let closing = run(close);
                close += closing;
                is_blank = false;
                if closing == opening {
                    return close;
                }
                continue;
            }
            b'\n' if is_blank => break,
            b'\n' => is_blank = true,
            b' ' | b'\t' | b'\r' => {}
            _ => is_blank = false,
        }
        close += 1;
    }
    at + opening
}
