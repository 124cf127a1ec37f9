//! Lists of document ids, each stored as its difference from the one before.
//!
//! Invariant: reading any bytes neither panics nor reads beyond them.

use crate::varint::{put, take};

/// Packs ids as differences from the ones before.
pub(super) fn pack(values: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = 0;
    for value in values {
        put(&mut bytes, value.wrapping_sub(last).cast_unsigned());
        last = *value;
    }
    bytes
}

/// Converts the result of [`pack`] back; `None` if it is damaged.
pub(super) fn unpack(mut bytes: &[u8]) -> Option<Vec<i64>> {
    let mut values = Vec::new();
    let mut last = 0_i64;
    while !bytes.is_empty() {
        last = last.wrapping_add(take(&mut bytes)?.cast_signed());
        values.push(last);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_round_trip_and_damage_is_noticed() {
        let values = [0, 1, 127, 128, 70_000, i64::MAX, 3];
        assert_eq!(unpack(&pack(&values)).unwrap(), values);
        assert_eq!(unpack(&[0x80]), None);
    }
}
