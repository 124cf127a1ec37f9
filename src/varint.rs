//! Integers of variable length (LEB128): seven bits per byte, the lowest first.
//!
//! Invariant: reading any bytes neither panics nor reads beyond them. Pure.

/// Appends `value` to `bytes`.
#[inline]
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push((value & 0x7f) as u8);
}

/// Removes an integer from the front of `bytes`; `None` if there is none.
#[inline]
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    // Most integers have one byte.
    if let [byte @ ..0x80, rest @ ..] = bytes {
        *bytes = rest;
        return Some(u64::from(*byte));
    }
    take_long(bytes)
}

/// Removes an integer of any length from the front of `bytes`; `None` if there is none.
fn take_long(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit.
        if bits << shift >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_round_trip_and_damage_is_noticed() {
        for value in [0, 1, 127, 128, 70_000, u64::MAX] {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(take(&mut &bytes[..]), Some(value));
        }
        assert_eq!(take(&mut &[0x80][..]), None);
        assert_eq!(take(&mut &[0xFF; 20][..]), None);
        assert_eq!(take(&mut &[&[0xFF; 9][..], &[2]].concat()[..]), None);
    }
}
