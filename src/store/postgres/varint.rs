//! Integers of variable length: seven bits per byte, the lowest first.
//!
//! Invariant: reading any bytes neither panics nor reads beyond them.

/// Appends `value` to `bytes`.
pub(super) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

/// Removes an integer from the front of `bytes`; `None` if there is none.
pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Packs numbers as differences from the ones before.
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
    fn integers_round_trip_and_damage_is_noticed() {
        let values = [0, 1, 127, 128, 70_000, i64::MAX, 3];
        assert_eq!(unpack(&pack(&values)).unwrap(), values);
        assert_eq!(unpack(&[0x80]), None);
        assert_eq!(take(&mut &[0xff; 20][..]), None);
    }
}
