//! Pieces: the smallest parts of a text that a passage can include.
//!
//! A piece is one or a few sentences of a paragraph or of a list item, a row of a table, or some lines of
//! code. Invariant: pieces are in document order and do not overlap. Every
//! byte that is not blank is in a piece, except the delimiter rows of tables. No piece splits a Unicode
//! scalar.

use super::html;
use crate::markdown::outline::{BlockType, Node, NodeKind};
use crate::markdown::shows_text;
use crate::position::{ByteSpan, next_line_start, trim_line_end};

/// Length in Unicode scalars above which a text is cut at the ends of its sentences, and above which a line is long.
const LONG_CHARS: usize = 180;
/// Maximum length of a piece of several lines of code, in Unicode scalars.
const CODE_CHARS: usize = 100;
/// Minimum length of a piece of sentences, in Unicode scalars.
const SENTENCE_CHARS: usize = 120;
/// Length in Unicode scalars of the longest end of a text that belongs to the piece before it. It is often the sentence
/// that the others lead to, and costs little.
const SHORT_END_CHARS: usize = 60;
/// Length of a piece of several lines in which no sentence ends, in Unicode scalars, after which a line ends it.
const LINES_CHARS: usize = 200;
/// Maximum length of a piece, in Unicode scalars.
const MAX_CHARS: usize = 400;
/// Maximum length in Unicode scalars of the beginning of a list item that is shown with each piece of the item.
const ITEM_CHARS: usize = 180;
/// What begins and what ends a comment, in HTML and in MDX.
const COMMENTS: [(&[u8], &[u8]); 2] = [(b"<!--", b"-->"), (b"{/*", b"*/}")];
/// The number of nodes of the outline after an opening tag among which the closing one is looked for.
const MAX_WITHIN: usize = 100;
/// The number of bytes after it in which the closing one is looked for.
const MAX_WITHIN_BYTES: usize = 64 << 10;
/// Length in bytes of the longest word that is read as text.
const LONGEST_WORD: usize = 200;
/// Words that refer to what precedes them, at the beginning of a sentence.
const REFERRING: [&str; 13] = [
    "This",
    "These",
    "That",
    "Those",
    "It",
    "Its",
    "They",
    "Here",
    "Such",
    "Then",
    "But",
    "However",
    "Otherwise",
];

/// A part of a text that a passage includes as a whole or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// The byte span in the file.
    pub(super) span: ByteSpan,
    /// The header row of its table, if the piece is a row.
    pub(super) header: Option<ByteSpan>,
    /// Whether a reader of the rendered document sees no text of it: a comment, definitions of links, images, an anchor
    /// or a label.
    pub(super) is_aside: bool,
    /// The byte offset of the piece that says what its entry is, if it is a part of an entry of HTML or JSX.
    pub(super) head: Option<usize>,
    /// What the entry of HTML or JSX that begins with it describes.
    pub(super) term: Option<ByteSpan>,
}

impl Piece {
    /// Returns the piece at `span` that is not a row and not aside.
    pub(super) fn of(span: ByteSpan) -> Self {
        Self { span, header: None, is_aside: false, head: None, term: None }
    }
}

/// Returns the number of Unicode scalars of `bytes`. Bytes that are not valid UTF-8 count unless they are continuation
/// bytes.
pub(super) fn chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// Cuts the bytes of a file within `span` into pieces. `nodes` is its outline, in document order.
pub(super) fn pieces(bytes: &[u8], nodes: &[Node], span: ByteSpan) -> Vec<Piece> {
    let first = nodes.partition_point(|node| node.bytes.start < span.start);
    let nodes = nodes.get(first..).unwrap_or_default();
    let mut cutter = Cutter::new(bytes);
    let mut nodes = nodes.iter().peekable();
    let mut at = span.start;
    while at < span.end {
        let end = next_line_start(bytes, at).min(span.end);
        let mut begins_node = false;
        let mut block = None;
        while let Some(node) = nodes.next_if(|node| node.bytes.start < end) {
            begins_node = true;
            let NodeKind::Block(kind) = node.kind else { continue };
            // JSX in files that are not called .mdx is a paragraph.
            let is_markup = || node.bytes.of(bytes).starts_with(b"<");
            if matches!(kind, BlockType::Code | BlockType::Table | BlockType::Html)
                || kind == BlockType::Paragraph && is_markup()
            {
                block = Some((kind, node.bytes.end.clamp(end, span.end)));
            }
        }
        if let Some((kind, block_end)) = block {
            cutter.close(at);
            let mut block = ByteSpan::new(at, block_end);
            match kind {
                BlockType::Table => cutter.table(block),
                BlockType::Code => cutter.code(block),
                _ => {
                    block.end = html_end(bytes, nodes.clone(), block).min(span.end);
                    cutter.html(block);
                }
            }
            let block_end = block.end;
            while nodes.next_if(|node| node.bytes.start < block_end).is_some() {}
            at = block_end;
            continue;
        }
        if begins_node {
            cutter.close(at);
        }
        cutter.line(ByteSpan::new(at, end));
        at = end;
    }
    cutter.close(span.end);
    cutter.pieces
}

/// Returns the end of a block of HTML with the paragraphs and the HTML directly after it, without a blank line: between
/// tags, JSX has paragraphs.
fn html_end<'a>(bytes: &[u8], nodes: impl Iterator<Item = &'a Node>, block: ByteSpan) -> usize {
    if html::is_hidden(block.of(bytes)) {
        return block.end;
    }
    let mut end = next_line_start(bytes, block.end.saturating_sub(1)).max(block.end);
    for node in nodes.skip_while(|node| node.bytes.start < block.end) {
        let is_text = matches!(node.kind, NodeKind::Block(BlockType::Html | BlockType::Paragraph));
        let gap = bytes.get(end..node.bytes.start).unwrap_or_default();
        if !is_text || node.bytes.start < end || gap.contains(&b'\n') {
            break;
        }
        end = next_line_start(bytes, node.bytes.end.saturating_sub(1)).max(node.bytes.end);
    }
    end
}

/// Cuts a key of front matter with its value, at `span`. If they are long, the key is a piece of its own.
pub(super) fn key_pieces(bytes: &[u8], span: ByteSpan) -> Vec<Piece> {
    if !exceeds(span.of(bytes), MAX_CHARS) {
        return vec![Piece::of(span)];
    }
    let mut cutter = Cutter::new(bytes);
    let line = ByteSpan::new(span.start, next_line_start(bytes, span.start).min(span.end));
    let mark = line.of(bytes).iter().position(|byte| matches!(byte, b':' | b'='));
    let value = mark.map_or(span.start, |mark| span.start + mark + 1);
    cutter.add(ByteSpan::new(span.start, value), None);
    cutter.open = Some(value);
    cutter.close(span.end);
    cutter.pieces
}

/// The pieces without which a piece is hard to understand, by index.
#[expect(clippy::struct_excessive_bools, reason = "they are independent")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The piece to show before this one: the first piece of the list item that contains it or its item, or of its
    /// row.
    pub(super) parent: Option<usize>,
    /// Whether the piece ends with a colon, and a list, a table or a code block follows.
    pub(super) leads_in: bool,
    /// Whether the piece begins a list item.
    pub(super) is_item: bool,
    /// The piece that begins the innermost list item that contains this one.
    pub(super) item: Option<usize>,
    /// The first piece of the code block that contains this one.
    pub(super) code: Option<usize>,
    /// Whether the piece begins with words that refer to what precedes it.
    pub(super) refers_back: bool,
    /// Whether the piece begins within a sentence, in a line after that of the piece before it.
    pub(super) is_within_sentence: bool,
    /// Whether its beginning is shown with the piece before it, because it is in the same line.
    pub(super) is_begun: bool,
}

/// Returns what each piece needs. `nodes` is the outline of the file with the content `bytes`, in
/// document order.
pub(super) fn needs(bytes: &[u8], nodes: &[Node], pieces: &[Piece]) -> Vec<Needs> {
    let mut needs = vec![Needs::default(); pieces.len()];
    let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { return needs };
    for (index, pair) in pieces.windows(2).enumerate() {
        let [before, piece] = pair else { continue };
        let text = before.span.of(bytes);
        let following = piece.span.of(bytes);
        if let Some(needs) = needs.get_mut(index + 1) {
            needs.refers_back = refers_back(following);
            needs.is_within_sentence = before.span.end == piece.span.start
                && piece.header.is_none()
                && following.first().is_some_and(u8::is_ascii_lowercase);
            needs.is_begun = whole_lines(bytes, before.span).end > piece.span.start;
        }
        // A long row is cut, and its first cell often says what the row is about.
        let is_same_row = piece.header.is_some() && before.header == piece.header;
        if is_same_row && !matches!(text.last(), None | Some(b'\n' | b'\r')) {
            let first = needs.get(index).and_then(|needs| needs.parent).unwrap_or(index);
            if let Some(needs) = needs.get_mut(index + 1) {
                needs.parent = Some(first);
            }
        }
    }
    let piece_at =
        |at: usize| pieces.partition_point(|piece| piece.span.start <= at).checked_sub(1);
    let is_short = |index: usize| {
        let piece = pieces.get(index).map(|piece| piece.span).unwrap_or_default();
        !exceeds(piece.of(bytes), ITEM_CHARS)
    };
    add_heads(pieces, &mut needs);
    let begin = nodes.partition_point(|node| node.bytes.start < first.span.start);
    let nodes_here = nodes.get(begin..).unwrap_or_default();
    let nodes_here = nodes_here.iter().enumerate();
    for (offset, node) in nodes_here.take_while(|(_, node)| node.bytes.start < last.span.end) {
        let Some(index) = piece_at(node.bytes.start) else { continue };
        match node.kind {
            NodeKind::Item => {
                let own_list = node.parent.and_then(|index| nodes.get(index));
                let parent = own_list.and_then(|own| own.parent).and_then(|item| nodes.get(item));
                let parent = parent.filter(|parent| parent.kind == NodeKind::Item);
                let parent = parent.and_then(|parent| piece_at(parent.bytes.start));
                if let Some(needs) = needs.get_mut(index) {
                    needs.parent = parent.filter(|parent| *parent < index);
                    needs.is_item = true;
                }
                for needs in until(node.bytes.end, pieces, &mut needs).skip(index) {
                    needs.item = Some(index);
                }
                if is_short(index) {
                    for needs in until(node.bytes.end, pieces, &mut needs).skip(index + 1) {
                        needs.parent = Some(index);
                    }
                }
            }
            NodeKind::Block(BlockType::Html) => {
                let end = || element_end(bytes, nodes, begin + offset);
                let Some(end) = is_short(index).then(end).flatten() else { continue };
                if let Some(needs) = needs.get_mut(index) {
                    needs.is_item = true;
                    needs.leads_in = true;
                    needs.item = Some(index);
                }
                for needs in until(end, pieces, &mut needs).skip(index + 1) {
                    needs.item = Some(index);
                    needs.parent = Some(index);
                }
            }
            NodeKind::Block(
                kind @ (BlockType::Code
                | BlockType::List
                | BlockType::Table
                | BlockType::Blockquote),
            ) => {
                if kind == BlockType::Code {
                    for needs in until(node.bytes.end, pieces, &mut needs).skip(index) {
                        needs.is_within_sentence = false;
                        needs.code = Some(index);
                    }
                }
                // The header row of a table is no piece.
                let index = pieces.partition_point(|piece| piece.span.end <= node.bytes.start);
                let Some(before) = index.checked_sub(1) else { continue };
                let span = pieces.get(before).map(|piece| piece.span).unwrap_or_default();
                let text = trimmed(span.of(bytes));
                let leads_in = text.ends_with(b":") || text.ends_with("\u{ff1a}".as_bytes());
                if let Some(needs) = needs.get_mut(before).filter(|_| leads_in) {
                    needs.leads_in = true;
                }
            }
            _ => {}
        }
    }
    needs
}

/// Returns the needs of the pieces that begin before `end`.
fn until<'a>(
    end: usize,
    pieces: &[Piece],
    needs: &'a mut [Needs],
) -> std::slice::IterMut<'a, Needs> {
    let count = pieces.partition_point(|piece| piece.span.start < end);
    needs.get_mut(..count).unwrap_or_default().iter_mut()
}

/// Adds to `needs` what the pieces of entries of HTML or JSX need.
fn add_heads(pieces: &[Piece], needs: &mut [Needs]) {
    for (index, (piece, needs)) in pieces.iter().zip(needs).enumerate() {
        let at = |head: usize| pieces.partition_point(|piece| piece.span.start <= head);
        let head = piece.head.and_then(|head| at(head).checked_sub(1));
        let head = head.filter(|head| *head < index);
        needs.is_item |= piece.term.is_some();
        needs.item = if piece.term.is_some() { Some(index) } else { head };
        needs.parent = needs.parent.or(head);
    }
}

/// Returns the byte offset of the block that closes the element which the block of HTML at `index` in `nodes` opens, if
/// that says what the element is. The blocks between them are in the element.
fn element_end(bytes: &[u8], nodes: &[Node], index: usize) -> Option<usize> {
    let block = nodes.get(index)?;
    let name = html::opened(bytes, block.bytes)?;
    let after = nodes.get(index + 1..)?.iter().take(MAX_WITHIN);
    let after = after.take_while(|node| node.bytes.start < block.bytes.end + MAX_WITHIN_BYTES);
    let html = after.filter(|node| node.parent == block.parent);
    let mut depth = 1;
    for node in html.filter(|node| node.kind == NodeKind::Block(BlockType::Html)) {
        depth += html::depth_change(node.bytes.of(bytes), name);
        if depth <= 0 {
            return Some(node.bytes.start);
        }
    }
    None
}

/// Returns the span, without its marks, of the code or the strong text with which a list item or the first cell of a row
/// begins, or of the first text of an entry of HTML or JSX. Such an item or row often says what the term is; one that begins with a link leads to where that is said.
pub(super) fn defined_term(bytes: &[u8], piece: &Piece) -> Option<ByteSpan> {
    let span = piece.span;
    if piece.term.is_some() {
        return piece.term;
    }
    if span.of(bytes).trim_ascii_start().starts_with(b"<") {
        return html::term(bytes, span);
    }
    let is_row = piece.header.is_some();
    let is_blank = |byte: &u8| byte.is_ascii_whitespace();
    let is_mark = |byte: &u8| matches!(byte, b'`' | b'*' | b'_');
    let marker = |byte: &u8| if is_row { *byte == b'|' } else { !byte.is_ascii_whitespace() };
    let skipped = |from: usize, skips: &dyn Fn(&u8) -> bool| {
        let rest = bytes.get(from..span.end).unwrap_or_default();
        from + rest.iter().take_while(|byte| skips(byte)).count()
    };
    let content = skipped(skipped(skipped(span.start, &is_blank), &marker), &is_blank);
    let start = skipped(content, &is_mark);
    let end = skipped(start, &|byte| !matches!(byte, b'`' | b'*' | b'\n'));
    (start > content && end > start).then(|| ByteSpan::new(start, end))
}

/// Whether the first word of a text is one of [`REFERRING`], or one of the next two is "this" or "these", as in
/// "When this option is used".
fn refers_back(text: &[u8]) -> bool {
    let is_of_word = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let mut words = text.split(|byte| !is_of_word(byte)).filter(|word| !word.is_empty());
    words.next().is_some_and(|first| REFERRING.iter().any(|word| word.as_bytes() == first))
        || words.take(2).any(|word| word == b"this" || word == b"these")
}

/// Whether most of a line is one run of ASCII characters without a blank that is too long for a word, such as an image in
/// a `data:` URL.
fn is_encoded(line: &[u8]) -> bool {
    if line.len() <= LONGEST_WORD {
        return false;
    }
    let runs = line.split(|byte| byte.is_ascii_whitespace() || !byte.is_ascii());
    let longest = runs.map(<[u8]>::len).max().unwrap_or_default();
    longest > LONGEST_WORD && longest * 2 > line.len()
}

struct Cutter<'a> {
    bytes: &'a [u8],
    pieces: Vec<Piece>,
    /// The start of the lines that are not in a piece yet.
    open: Option<usize>,
    /// What ends the comment within which the last piece ended.
    comment_end: Option<&'static [u8]>,
}

impl<'a> Cutter<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pieces: Vec::new(), open: None, comment_end: None }
    }

    /// Adds a line of text to the open lines. A long one is for itself, and a blank one ends them.
    fn line(&mut self, line: ByteSpan) {
        let text = line.of(self.bytes);
        let is_blank = text.trim_ascii().is_empty();
        let is_long = chars(text) > LONG_CHARS;
        if is_blank || is_long {
            self.close(line.start);
        }
        if !is_blank {
            self.open.get_or_insert(line.start);
        }
        if is_long {
            self.close(line.end);
        }
    }

    /// Adds the bytes of `span`, as several pieces if they exceed the maximum length.
    fn add(&mut self, span: ByteSpan, header: Option<ByteSpan>) {
        self.add_as(span, header, false);
    }

    fn add_as(&mut self, span: ByteSpan, header: Option<ByteSpan>, is_aside: bool) {
        let mut rest = span;
        while exceeds(rest.of(self.bytes), MAX_CHARS) {
            let cut = rest.start + cut_point(rest.of(self.bytes));
            let part = Piece::of(ByteSpan::new(rest.start, cut));
            self.pieces.push(Piece { header, is_aside, ..part });
            rest.start = cut;
        }
        if !rest.of(self.bytes).trim_ascii().is_empty() {
            self.pieces.push(Piece { header, is_aside, ..Piece::of(rest) });
        }
    }

    /// Adds text that is neither code nor a row of a table.
    fn add_text(&mut self, span: ByteSpan) {
        let text = span.of(self.bytes).trim_ascii();
        let begun = COMMENTS.iter().find(|(start, _)| text.starts_with(start)).map(|(_, end)| *end);
        let is_aside = match self.comment_end.or(begun) {
            Some(end) => {
                let at = memchr::memmem::find(text, end);
                self.comment_end = at.is_none().then_some(end);
                at.is_none_or(|at| at + end.len() == text.len())
            }
            None => text.split(|byte| *byte == b'\n').all(|line| {
                let line = line.trim_ascii();
                is_definition(line)
                    || is_encoded(line)
                    || !shows_text(&String::from_utf8_lossy(line))
                        && !html::shows_value(line)
                        && !is_heading_of_signs(line)
            }),
        };
        self.add_as(span, None, is_aside);
    }

    /// Whether lines are only images and links around them, which may end in another line than they begin.
    fn is_images(&self, lines: ByteSpan) -> bool {
        let text = lines.of(self.bytes);
        let start = text.trim_ascii_start();
        let begins_image = start.starts_with(b"![") || start.starts_with(b"[![");
        self.comment_end.is_none() && begins_image && !shows_text(&String::from_utf8_lossy(text))
    }

    /// Ends the open lines at `end`. They become one piece, or several if they are long.
    fn close(&mut self, end: usize) {
        let Some(start) = self.open.take() else { return };
        let mut begin = start;
        if self.is_images(ByteSpan::new(start, end)) {
            return self.add_as(ByteSpan::new(start, end), None, true);
        }
        if chars(ByteSpan::new(start, end).of(self.bytes)) <= LONG_CHARS {
            return self.add_text(ByteSpan::new(start, end));
        }
        for at in sentence_ends(ByteSpan::new(start, end).of(self.bytes)) {
            let sentences = ByteSpan::new(begin, start + at);
            let has_more =
                exceeds(ByteSpan::new(sentences.end, end).of(self.bytes), SHORT_END_CHARS);
            if has_more && chars(sentences.of(self.bytes)) >= SENTENCE_CHARS {
                self.sentences(sentences);
                begin = sentences.end;
            }
        }
        self.sentences(ByteSpan::new(begin, end));
    }

    /// Adds sentences as one piece, or as several pieces of whole lines if they are long.
    fn sentences(&mut self, span: ByteSpan) {
        let (mut begin, mut at) = (span.start, span.start);
        while at < span.end {
            at = next_line_start(self.bytes, at).min(span.end);
            let lines = ByteSpan::new(begin, at);
            let has_rest = exceeds(ByteSpan::new(at, span.end).of(self.bytes), SENTENCE_CHARS);
            if has_rest && exceeds(lines.of(self.bytes), LINES_CHARS) {
                self.add_text(lines);
                begin = at;
            }
        }
        self.add_text(ByteSpan::new(begin, span.end));
    }

    /// Cuts a code block between lines. An opening fence stays with the line after it.
    fn code(&mut self, block: ByteSpan) {
        let (mut begin, mut at) = (block.start, block.start);
        let is_fenced = [&b"```"[..], b"~~~"]
            .iter()
            .any(|fence| block.of(self.bytes).trim_ascii_start().starts_with(fence));
        let fence = if is_fenced { next_line_start(self.bytes, block.start) } else { block.start };
        while at < block.end {
            let end = next_line_start(self.bytes, at).min(block.end);
            if begin.max(fence) < at && chars(ByteSpan::new(begin, end).of(self.bytes)) > CODE_CHARS
            {
                self.add(ByteSpan::new(begin, at), None);
                begin = at;
            }
            at = end;
        }
        self.add(ByteSpan::new(begin, block.end), None);
    }

    /// Cuts HTML and JSX into entries, or into lines if it has none.
    fn html(&mut self, block: ByteSpan) {
        let Some(parts) = html::parts(self.bytes, block) else {
            let mut at = block.start;
            while at < block.end {
                let end = next_line_start(self.bytes, at).min(block.end);
                self.line(ByteSpan::new(at, end));
                at = end;
            }
            return self.close(block.end);
        };
        for part in parts {
            let from = self.pieces.len();
            if exceeds(part.span.of(self.bytes), MAX_CHARS) {
                self.open = Some(part.span.start);
                self.close(part.span.end);
            } else {
                self.add_text(part.span);
            }
            let mut pieces = self.pieces.iter_mut().skip(from);
            if let Some(first) = pieces.next() {
                (first.head, first.term) = (part.head, part.term);
            }
            let first = part.term.map(|_| part.span.start);
            pieces.for_each(|piece| piece.head = first.or(part.head));
        }
    }

    /// Cuts a table into its rows. The header row is a piece only if there is no other row.
    fn table(&mut self, block: ByteSpan) {
        let header_end = next_line_start(self.bytes, block.start).min(block.end);
        let header = ByteSpan::new(block.start, header_end);
        let mut at = next_line_start(self.bytes, header_end).min(block.end);
        if at >= block.end {
            return self.add(block, None);
        }
        while at < block.end {
            let end = next_line_start(self.bytes, at).min(block.end);
            self.add(ByteSpan::new(at, end), Some(header));
            at = end;
        }
    }
}

/// Whether a line is a heading whose title begins with a visible sign, such as that of an operator. What follows it
/// cannot be understood without it.
fn is_heading_of_signs(line: &[u8]) -> bool {
    let title = line.trim_ascii_start();
    let marks = title.iter().take_while(|byte| **byte == b'#').count();
    let title = title.get(marks..).unwrap_or_default();
    (1..=6).contains(&marks)
        && title.first().is_some_and(u8::is_ascii_whitespace)
        && !title.trim_ascii().is_empty()
        && [&b"<"[..], b"![", b"[", b"{"].iter().all(|start| !title.trim_ascii().starts_with(start))
}

/// Whether a line is the definition of a link: `[label]: destination "title"`, of which the title may be missing.
/// The definition of a footnote is text.
fn is_definition(line: &[u8]) -> bool {
    let Some(end) = memchr::memmem::find(line, b"]: ").filter(|_| line.starts_with(b"[")) else {
        return false;
    };
    let mut rest = line.get(end + 3..).unwrap_or_default().splitn(2, u8::is_ascii_whitespace);
    let title = rest.nth(1).unwrap_or_default().trim_ascii();
    !line.starts_with(b"[^") && matches!(title.first(), None | Some(b'"' | b'\'' | b'('))
}

/// Returns whether a text has more than `most` Unicode scalars. Reads no more than the beginning of it.
pub(super) fn exceeds(bytes: &[u8], most: usize) -> bool {
    chars(bytes.get(..4 * (most + 1)).unwrap_or(bytes)) > most
}

/// Returns where to cut a text that exceeds the maximum length: after the last blank within it, or else
/// at it.
fn cut_point(bytes: &[u8]) -> usize {
    let scalars = (0..bytes.len()).filter(|at| bytes.get(*at).is_some_and(|b| b & 0xC0 != 0x80));
    let limit = scalars.take(MAX_CHARS + 1).last().unwrap_or(bytes.len());
    let head = bytes.get(..limit).unwrap_or(bytes);
    let blank = head.iter().rposition(u8::is_ascii_whitespace);
    blank.map_or(limit, |blank| blank + 1).max(1)
}

/// Returns the ends of the sentences of a text: after the blanks that follow `.`, `!` or `?`, and after
/// the full stops of Chinese and Japanese.
fn sentence_ends(bytes: &[u8]) -> Vec<usize> {
    const STOPS: [&str; 4] = ["\u{3002}", "\u{ff01}", "\u{ff1f}", "\u{ff1b}"];
    let mut ends = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let stop = match rest.first() {
            // The first bytes of the full stops.
            Some(0xE3 | 0xEF) => STOPS.iter().find(|stop| rest.starts_with(stop.as_bytes())),
            _ => None,
        };
        if let Some(stop) = stop {
            at += stop.len();
            ends.push(at);
            continue;
        }
        let is_stop = matches!(rest.first(), Some(b'.' | b'!' | b'?'));
        at += 1;
        if !is_stop {
            continue;
        }
        // Closing quotation marks, parentheses, emphasis and code marks belong to the sentence.
        let after = bytes.get(at..).unwrap_or_default();
        let closing = after.iter().take_while(|byte| b")]\"'*_`".contains(byte)).count();
        let blanks = after.iter().skip(closing).take_while(|byte| byte.is_ascii_whitespace());
        let blanks = blanks.count();
        if blanks > 0 {
            at += closing + blanks;
            ends.push(at);
        }
    }
    ends
}

/// Returns `span` with the rest of its first and of its last line, unless that line is long. Reads no more than the
/// beginning of a long line.
pub(super) fn whole_lines(bytes: &[u8], span: ByteSpan) -> ByteSpan {
    // A line with more bytes is long.
    const MOST_BYTES: usize = 4 * (LONG_CHARS + 1);
    let line_at = |at: usize| {
        let from = at.saturating_sub(MOST_BYTES);
        let before = bytes.get(from..at).unwrap_or_default();
        let end_above = before.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        let start = end_above.map_or(from, |end| from + end + 1);
        let near = bytes.get(..bytes.len().min(start + MOST_BYTES)).unwrap_or_default();
        let line = ByteSpan::new(start, next_line_start(near, start));
        let is_long = end_above.is_none() && from > 0 || chars(line.of(bytes)) > LONG_CHARS;
        (!is_long).then_some(line)
    };
    ByteSpan::new(
        line_at(span.start).map_or(span.start, |line| line.start),
        line_at(span.end.saturating_sub(1)).map_or(span.end, |line| line.end),
    )
}

/// Returns the text of a piece without the line end and trailing blanks.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    trim_line_end(bytes).trim_ascii_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(file: &str) -> Vec<String> {
        let outline = crate::markdown::parse(file.as_bytes()).outline;
        let pieces = pieces(file.as_bytes(), &outline.nodes, ByteSpan::new(0, file.len()));
        let text = |span: ByteSpan| file[span.start..span.end].trim_end().to_owned();
        let printed = |piece: &Piece| {
            piece.header.map_or_else(String::new, |header| text(header) + " => ")
                + &text(piece.span)
        };
        pieces.iter().map(printed).collect()
    }

    #[test]
    fn each_paragraph_and_item_is_a_piece() {
        let text = "One line.\nTwo.\n\n- item one\n- item two\n  goes on\n\n  - inner\n\nLast.\n";
        let expected =
            ["One line.\nTwo.", "- item one", "- item two\n  goes on", "  - inner", "Last."];
        assert_eq!(cut(text), expected);
    }

    #[test]
    fn long_lines_are_cut_at_the_ends_of_sentences() {
        let sentence =
            |number: usize| format!("Sentence {number} {}(see *this*.) ", "x".repeat(110));
        let end = format!("e.g. no end {}\n", "y".repeat(SHORT_END_CHARS));
        let text = (0..3).map(sentence).collect::<String>() + &end;
        let pieces = cut(&text);
        assert_eq!(pieces.len(), 4);
        assert!(pieces[1].starts_with("Sentence 1") && pieces[1].ends_with("(see *this*.)"));
        assert_eq!(pieces[3], end.trim_end());
        let chinese = format!("{}\u{3002}", "\u{5b57}".repeat(130)).repeat(3);
        assert_eq!(cut(&chinese).len(), 3);
    }

    #[test]
    fn a_short_last_sentence_belongs_to_the_piece_before_it() {
        let text = "The parameter limits what is kept. ".repeat(8);
        let pieces = cut(&format!("{text}The default is 2.\n"));
        assert_eq!(pieces.len(), 2, "{pieces:?}");
        assert!(pieces[1].ends_with("kept. The default is 2."), "{pieces:?}");
    }

    #[test]
    fn wrapped_lines_are_cut_at_the_ends_of_sentences() {
        let first = format!("{}\nof the first sentence. The second", "long beginning ".repeat(8));
        let text = format!("{first} begins in its line\n{}\nand ends here.\n", "word ".repeat(20));
        let pieces = cut(&text);
        assert_eq!(pieces.len(), 2, "{pieces:?}");
        assert!(pieces[0].ends_with("first sentence."), "{pieces:?}");
        assert!(pieces[1].starts_with("The second") && pieces[1].ends_with("ends here."));
        // Without the end of a sentence, lines end a piece.
        let lines = "<td>forty characters of a cell in HTML</td>\n".repeat(20);
        let pieces = cut(&lines);
        assert_eq!(pieces.len(), 4, "{pieces:?}");
        assert_eq!(pieces.join("\n") + "\n", lines);
    }

    #[test]
    fn short_lines_are_completed_and_long_lines_are_not() {
        let text = format!("one two\r\nthree four\n{}", "long ".repeat(60));
        let completed = |start, end| {
            let span = whole_lines(text.as_bytes(), ByteSpan::new(start, end));
            (span.start, span.end)
        };
        assert_eq!(completed(4, 12), (0, 20));
        assert_eq!(completed(0, 9), (0, 9));
        assert_eq!(completed(15, 40), (9, 40));
        assert_eq!(completed(30, 40), (30, 40));
    }

    #[test]
    fn rows_have_the_header_of_their_table() {
        let text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n";
        assert_eq!(cut(text), ["| a | b | => | 1 | 2 |", "| a | b | => | 3 | 4 |"]);
        assert_eq!(cut("| a |\n|---|\n"), ["| a |\n|---|"]);
    }

    #[test]
    fn text_that_is_not_rendered_is_aside() {
        let asides = |file: &str| -> Vec<bool> {
            let outline = crate::markdown::parse(file.as_bytes()).outline;
            let pieces = pieces(file.as_bytes(), &outline.nodes, ByteSpan::new(0, file.len()));
            pieces.iter().map(|piece| piece.is_aside).collect()
        };
        for file in [
            "<!-- a comment -->\n",
            "[two]: b.md \"Title\"\n",
            "[![build](https://a.example/b.svg)](https://a.example) ![x](y.png)\n",
            "[![build](b.svg)](\nhttps://a.example/build)\n[![test](t.svg)](\nhttps://a.example)\n",
            "![Settings > Tools > Enable it](y.png)\n",
            "<a id=\"1.0\"></a>\n",
            "(label-of-the-next-block)=\n",
            "{/* a comment */}\n",
        ] {
            assert_eq!(asides(file), [true], "{file}");
        }
        for file in [
            "<!-- a --> text\n",
            "[^1]: A footnote.\n",
            "[A link](b.md): text\n",
            "[Note]: this is text\n",
            "![x](y.png) text\n",
            "[![x](y.png)](\nb.md)\ntext\n",
            "![x](y.png) (text)\n",
            "(text)\n",
            "{/* a */} text\n",
            "![x > y](y.png) <b>text</b>\n",
            "```\n<!-- code -->\n```\n",
            "<b>text</b>\n",
        ] {
            assert_eq!(asides(file), [false], "{file}");
        }
        let encoded = "iVBORw0KGgo".repeat(30);
        assert_eq!(asides(&format!("![x](data:image/png;base64,{encoded})\n")), [true]);
        assert!(!asides(&format!("{encoded} {}\n", "word ".repeat(80)))[0]);
        for [start, end] in [["<!--", "-->"], ["{/*", "*/}"]] {
            let commented = format!("{start} one\n\ntwo\n\nthree {end}\n\nfour\n");
            assert_eq!(asides(&commented), [true, true, true, false]);
        }
    }

    #[test]
    fn a_part_of_a_row_needs_the_first_part() {
        let file = format!("| a | b |\n|---|---|\n| 1 | {} |\n| 2 | c |\n", "word ".repeat(200));
        let outline = crate::markdown::parse(file.as_bytes()).outline;
        let pieces = pieces(file.as_bytes(), &outline.nodes, ByteSpan::new(0, file.len()));
        let needs = needs(file.as_bytes(), &outline.nodes, &pieces);
        let parents: Vec<Option<usize>> = needs.iter().map(|needs| needs.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(0), None]);
    }

    #[test]
    fn code_is_cut_between_lines() {
        let text = format!("```\n{}\n{}\n{}\n```\n", "a".repeat(90), "b".repeat(90), "c");
        assert_eq!(cut(&text).len(), 2);
        let long = format!("```js\n{}\nb\n```\n", "a".repeat(170));
        assert_eq!(cut(&long), [&long[..176], "b\n```"]);
    }

    #[test]
    fn no_piece_is_longer_than_the_limit_or_splits_a_scalar() {
        for text in ["x".repeat(5000), "\u{5b57}".repeat(5000), "word ".repeat(1000)] {
            let pieces = cut(&text);
            assert!(pieces.len() > 10);
            assert!(pieces.iter().all(|piece| piece.chars().count() <= MAX_CHARS + 1));
            assert_eq!(pieces.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }

    #[test]
    fn what_is_within_an_element_needs_its_head() {
        let file = "<Field name=\"limit\">\n\nThe most items.\n\n- one\n\n</Field>\n\nText.\n\n\
                    <details><summary>Why?</summary>\n\nBecause.\n\n</details>\n";
        let outline = crate::markdown::parse(file.as_bytes()).outline;
        let pieces = pieces(file.as_bytes(), &outline.nodes, ByteSpan::new(0, file.len()));
        let needs = needs(file.as_bytes(), &outline.nodes, &pieces);
        let of = |text: &str| {
            let index = pieces.iter().position(|it| file[it.span.start..].starts_with(text));
            (index, needs[index.unwrap()].item)
        };
        let (head, summary) = (of("<Field"), of("<details"));
        assert_eq!(of("The most").1, head.0);
        assert_eq!(of("Text.").1, None);
        assert_eq!(of("Because.").1, summary.0);
        let term = defined_term(file.as_bytes(), &pieces[head.0.unwrap()]).unwrap();
        assert_eq!(&file[term.start..term.end], "limit");
    }

    #[test]
    fn pieces_of_a_code_block_know_its_beginning() {
        let file = format!("```\n{}\n{}\n```\n\n```\nc\n```\n", "a".repeat(90), "b".repeat(90));
        let outline = crate::markdown::parse(file.as_bytes()).outline;
        let pieces = pieces(file.as_bytes(), &outline.nodes, ByteSpan::new(0, file.len()));
        let needs = needs(file.as_bytes(), &outline.nodes, &pieces);
        let codes: Vec<Option<usize>> = needs.iter().map(|needs| needs.code).collect();
        assert_eq!(codes, [Some(0), Some(0), Some(2)]);
    }
}
