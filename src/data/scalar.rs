//! Texts as numbers, dates and strings, and how two of them compare.
//!
//! Invariant: two numbers compare as numbers, two dates as dates, with the precision of the less
//! precise one, and two other texts as strings. Texts of different types are neither equal nor in any
//! order, except that a year is a date beside a date.

use std::cmp::Ordering;

use crate::markdown::slug::comparable;

/// A number, as precise as it is written: `0.` and the digits, times a power of ten. The digits neither begin nor end
/// with a zero; zero has none.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Number {
    is_negative: bool,
    exponent: i64,
    digits: String,
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            // The parser of integers accepts a sign, as that of floats does.
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits = all.trim_start_matches('0');
        let point =
            i64::try_from(whole.len()).ok()? - i64::try_from(all.len() - digits.len()).ok()?;
        let digits = digits.trim_end_matches('0').to_owned();
        let exponent = if digits.is_empty() { 0 } else { point + i64::from(exponent) };
        Some(Self { is_negative: text.starts_with('-') && !digits.is_empty(), exponent, digits })
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = |number: &Self| match number {
            Self { digits, .. } if digits.is_empty() => 0,
            Self { is_negative: true, .. } => -1,
            Self { .. } => 1,
        };
        let size = (self.exponent, &self.digits).cmp(&(other.exponent, &other.digits));
        let size = if self.is_negative { size.reverse() } else { size };
        sign(self).cmp(&sign(other)).then(size)
    }
}

/// A date or a date with a time (ISO 8601).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Moment {
    /// Year, month, day, hour, minute, second and nanosecond, as they are written.
    parts: [u32; 7],
    /// The number of parts that are written: at least 2, or 1 for a year beside a date.
    precision: usize,
    /// The offset from UTC in minutes, if one is written.
    offset: Option<i64>,
}

impl Moment {
    fn of(text: &str) -> Option<Self> {
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        let mut moment = Self { parts: [0, 1, 1, 0, 0, 0, 0], precision: 0, offset: None };
        let mut fields = date.split('-');
        moment.push(fields.next()?, 4, 9999)?;
        moment.push(fields.next()?, 2, 12)?;
        if let Some(day) = fields.next() {
            moment.push(day, 2, 31)?;
        }
        let is_valid = fields.next().is_none()
            && moment.parts[1] > 0
            && (1..=days_in(moment.parts[0], moment.parts[1])).contains(&moment.parts[2]);
        match time {
            _ if !is_valid => None,
            None => Some(moment),
            Some(_) if moment.precision < 3 => None,
            Some(time) => moment.with_time(time),
        }
    }

    /// Reads a year.
    fn of_year(text: &str) -> Option<Self> {
        let mut moment = Self { parts: [0, 1, 1, 0, 0, 0, 0], precision: 0, offset: None };
        moment.push(text, 4, 9999)?;
        Some(moment)
    }

    fn push(&mut self, text: &str, digits: usize, most: u32) -> Option<()> {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = text.parse().ok().filter(|&value| is_number && value <= most)?;
        *self.parts.get_mut(self.precision)? = value;
        self.precision += 1;
        Some(())
    }

    fn with_time(mut self, text: &str) -> Option<Self> {
        let (time, zone) = match text.find(['Z', 'z', '+', '-']) {
            Some(at) => (text.get(..at)?.trim_end(), text.get(at..)),
            None => (text, None),
        };
        let (clock, fraction) = match time.split_once(['.', ',']) {
            Some((clock, fraction)) => (clock, Some(fraction)),
            None => (time, None),
        };
        let mut fields = clock.split(':');
        self.push(fields.next()?, 2, 23)?;
        self.push(fields.next()?, 2, 59)?;
        if let Some(seconds) = fields.next() {
            self.push(seconds, 2, 60)?;
        }
        if fields.next().is_some() {
            return None;
        }
        if let Some(fraction) = fraction {
            let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
            if self.precision < 6 || fraction.is_empty() {
                return None;
            }
            self.push(&digits, 9, u32::MAX)?;
        }
        self.offset = match zone {
            None => None,
            Some("Z" | "z") => Some(0),
            Some(zone) => Some(offset_of(zone)?),
        };
        Some(self)
    }

    /// Returns the seconds since the year 0 in UTC.
    fn seconds(&self) -> i64 {
        let [year, month, day, hour, minute, second, _] = self.parts.map(i64::from);
        // Days before a date, with years that begin in March (as in Howard Hinnant's algorithms).
        let year = if month <= 2 { year - 1 } else { year };
        let months = (month + 9) % 12;
        let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
            + year.div_euclid(400)
            + (153 * months + 2) / 5
            + day;
        ((days * 24 + hour) * 60 + minute - self.offset.unwrap_or(0)) * 60 + second
    }

    fn compare(&self, other: &Self) -> Ordering {
        let precision = self.precision.min(other.precision);
        // Two moments with a time zone are compared in UTC; else the zone is ignored.
        if precision > 3 && self.offset.is_some() && other.offset.is_some() {
            let (one, two) = (self.seconds(), other.seconds());
            let unit = if precision < 6 { 60 } else { 1 };
            return one.div_euclid(unit).cmp(&two.div_euclid(unit)).then_with(|| {
                if precision < 7 { Ordering::Equal } else { self.parts[6].cmp(&other.parts[6]) }
            });
        }
        self.parts.iter().take(precision).cmp(other.parts.iter().take(precision))
    }
}

/// Returns the number of days of a month.
fn days_in(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the minutes of an offset such as `+02:00`, `-0530` or `+02`.
fn offset_of(zone: &str) -> Option<i64> {
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let digits = zone.get(1..)?.replace(':', "");
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 =
        digits.get(2..).filter(|rest| !rest.is_empty()).unwrap_or("0").parse().ok()?;
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// A text as what it is.
enum Scalar<'a> {
    Number(Number),
    Date(Moment),
    Text(&'a str),
}

impl<'a> Scalar<'a> {
    fn of(text: &'a str) -> Self {
        let number = Number::of(text).map(Self::Number);
        let date = || Moment::of(text).map(Self::Date);
        number.or_else(date).unwrap_or(Self::Text(text))
    }
}

/// Compares `value` with `other`. Returns `None` if they are of different types. `is_string` forces the
/// comparison of strings.
pub fn compare(value: &str, other: &str, is_string: bool) -> Option<Ordering> {
    let (value, other) = (value.trim(), other.trim());
    if is_string || value == other {
        return Some(value.cmp(other));
    }
    match (Scalar::of(value), Scalar::of(other)) {
        (Scalar::Number(one), Scalar::Number(two)) => Some(one.cmp(&two)),
        (Scalar::Date(one), Scalar::Date(two)) => Some(one.compare(&two)),
        (Scalar::Date(one), Scalar::Number(_)) => Some(one.compare(&Moment::of_year(other)?)),
        (Scalar::Number(_), Scalar::Date(two)) => Some(Moment::of_year(value)?.compare(&two)),
        (Scalar::Text(one), Scalar::Text(two)) => Some(one.cmp(two)),
        _ => None,
    }
}

/// A scalar as a key to sort by: numbers come first, then dates and times, then other texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortKey(Sorted);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sorted {
    Number(Number),
    /// The first instant of a date, or a time, in seconds and nanoseconds. A time without a time zone is in UTC.
    Instant(i64, u32),
    Text(String),
}

impl SortKey {
    /// Returns the key of a scalar.
    pub fn of(text: &str) -> Self {
        match Scalar::of(text.trim()) {
            Scalar::Number(number) => Self(Sorted::Number(number)),
            Scalar::Date(date) => Self(Sorted::Instant(date.seconds(), date.parts[6])),
            Scalar::Text(text) => Self::of_text(comparable(text)),
        }
    }

    /// Returns the key of a text, even if it looks like a number or a date.
    pub fn of_text(text: String) -> Self {
        Self(Sorted::Text(text))
    }
}

/// Returns the name of the type of a text: `number`, `date` or `string`.
pub fn type_name(text: &str) -> &'static str {
    match Scalar::of(text.trim()) {
        Scalar::Number(_) => "number",
        Scalar::Date(_) => "date",
        Scalar::Text(_) => "string",
    }
}

/// Returns whether a text is a number.
pub fn is_number(text: &str) -> bool {
    Number::of(text.trim()).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_value_and_large_integers_exactly() {
        for (less, more) in [
            ("9", "10"),
            ("-2", "1"),
            ("1.5", "1.25e1"),
            (".5", "1"),
            ("9007199254740992", "9007199254740993"),
            ("9007199254740992.5", "9007199254740993"),
            ("0.12345678901234567890", "0.12345678901234567891"),
            ("-1e400", "1e-400"),
            ("-10", "-9"),
            ("0.09", "0.1"),
            (&format!("{}1", "9".repeat(50)), &format!("{}2", "9".repeat(50))),
        ] {
            assert_eq!(compare(less, more, false), Some(Ordering::Less), "{less} {more}");
        }
        assert_eq!(compare("1.10", "1.1", false), Some(Ordering::Equal));
        assert_eq!(compare("1.10", "1.1", true), Some(Ordering::Greater));
        for (one, other) in
            [("-0", "0"), ("0e9", ".0"), ("007", "7."), ("+12e-1", "1.20"), ("1e3", "1000")]
        {
            assert_eq!(compare(one, other, false), Some(Ordering::Equal), "{one} {other}");
        }
        for text in [
            "inf",
            "nan",
            "-",
            "",
            "1_000",
            "0x10",
            "infinity",
            ".",
            "e5",
            "1e",
            "1e9999999999",
            "--1",
            "1.2.3",
        ] {
            assert!(!is_number(text), "{text}");
        }
    }

    #[test]
    fn dates_compare_with_the_precision_of_the_less_precise_one() {
        for (less, more) in [
            ("2026-01-31", "2026-02-01"),
            ("2026-01-31T23:59", "2026-02-01"),
            ("2026-01-31T12:00:00Z", "2026-01-31T12:00:01+00:00"),
            ("2026-01-31T12:00:00+02:00", "2026-01-31T11:00:00Z"),
            ("2025-12", "2026-01-01"),
            ("2025", "2026-01-01"),
        ] {
            assert_eq!(compare(less, more, false), Some(Ordering::Less), "{less} {more}");
            assert_eq!(compare(more, less, false), Some(Ordering::Greater), "{less} {more}");
        }
        for (one, other) in [
            ("2026-01-31T10:00", "2026-01-31"),
            ("2026-01-31 10:00:00", "2026-01-31T10:00"),
            ("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z"),
            ("2026-01", "2026-01-20"),
            ("2026-01-20", "2026"),
        ] {
            assert_eq!(compare(one, other, false), Some(Ordering::Equal), "{one} {other}");
        }
        for text in ["2026-02-30", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-01T25:00", "2026"]
        {
            assert_ne!(type_name(text), "date", "{text}");
        }
        assert_eq!(type_name("2024-02-29"), "date");
    }

    #[test]
    fn sort_keys_are_in_the_order_of_what_they_mean() {
        let sorted = [
            "-2",
            "-1.5",
            "0",
            "9007199254740992",
            "9007199254740993",
            "2025-12-31",
            "2026-01",
            "2026-01-01T01:00",
            "2026-01-02T01:00:00+09:00",
            "2026-01-01T20:00:00Z",
            "2026-01-01T20:00:00.5Z",
            "2026-01-01 23:00",
            "2026-W02",
            "Alpha",
            "beta",
        ];
        for pair in sorted.windows(2) {
            assert!(SortKey::of(pair[0]) < SortKey::of(pair[1]), "{pair:?}");
        }
    }

    #[test]
    fn texts_of_different_types_have_no_order() {
        for (one, other) in
            [("10", "9 files"), ("2026-01-31", "soon"), ("1.10.2", "1.9"), ("7", "2026-01-31")]
        {
            assert_eq!(compare(one, other, false), None, "{one} {other}");
            assert_eq!(compare(other, one, false), None, "{one} {other}");
            assert!(compare(one, other, true).is_some(), "{one} {other}");
        }
        assert_eq!(compare("draft", "final", false), Some(Ordering::Less));
    }
}
