//! The packed form of the LDMD markup of a document: one blob. A document without markup has none.
//!
//! Invariants: decoding an encoded value returns the same value. Decoding any other bytes returns
//! `None`, or markup whose sections are nested and within the file.

use crate::ldmd::{LdmdSection, Markup};
use crate::position::ByteSpan;

/// Packs `markup`.
pub(crate) fn encode(markup: &Markup) -> postcard::Result<Vec<u8>> {
    postcard::to_stdvec(markup)
}

/// Unpacks the markup of a document of `bytes` bytes; `None` if `packed` is invalid.
pub(crate) fn decode(packed: &[u8], bytes: usize) -> Option<Markup> {
    let markup: Markup = postcard::from_bytes(packed).ok()?;
    let file = ByteSpan::new(0, bytes);
    let is_within =
        |span: ByteSpan, outer: ByteSpan| span.start <= span.end && outer.contains(span);
    let is_placed = |(index, section): (usize, &LdmdSection)| {
        let outer = match section.parent {
            None => Some(file),
            Some(parent) if parent < index => markup.sections.get(parent).map(|s| s.content),
            Some(_) => None,
        };
        outer.is_some_and(|outer| is_within(section.span, outer))
            && is_within(section.content, section.span)
    };
    let are_placed = markup.sections.iter().enumerate().all(is_placed)
        && markup.strays.iter().all(|&stray| is_within(stray, file))
        && markup.references.iter().all(|reference| is_within(reference.span, file));
    are_placed.then_some(markup)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &[u8] =
        b"<!--LDMD:BEGIN id=\"a\" tags=\"x,y\"-->\n<!--LDMD:BEGIN id=\"b\" k=\"v\"-->\n\
        <!--LDMD:END id=\"b\"-->\n<!--LDMD:END id=\"a\"-->\n<!--LDMD:END id=\"c\"-->\n\
        <!--LDMD:REF doc=\"d\"-->\n";

    proptest! {
        #[test]
        fn damaged_blobs_never_panic_and_spans_stay_in_the_file(
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4)
        ) {
            let markup = crate::ldmd::parse(TEXT, &[]);
            let mut packed = encode(&markup).unwrap();
            for (index, value) in &changes {
                let index = index.index(packed.len());
                packed[index] = *value;
            }
            let decoded = decode(&packed, TEXT.len());
            if changes.is_empty() {
                prop_assert_eq!(&decoded, &Some(markup));
            }
            for section in decoded.iter().flat_map(|markup| &markup.sections) {
                prop_assert!(section.span.end <= TEXT.len());
            }
            for reference in decoded.iter().flat_map(|markup| &markup.references) {
                prop_assert!(reference.span.end <= TEXT.len());
            }
        }
    }
}
