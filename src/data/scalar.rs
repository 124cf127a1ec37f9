//! Texts as numbers, dates and strings, and how two of them compare.
//!
//! Invariant: two numbers compare as numbers, two dates as dates, with the precision of the less
//! precise one, and two other texts as strings. Texts of different types are neither equal nor in any
//! order, except that a year is a date beside a date.

use std::cmp::Ordering;

/// A number, as precise as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn of(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if !digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
            return None;
        }
        if let Ok(integer) = text.parse() {
            return Some(Self::Integer(integer));
        }
        text.parse().ok().filter(|float: &f64| float.is_finite()).map(Self::Float)
    }

    #[expect(clippy::cast_precision_loss, reason = "a float on the other side is no more precise")]
    fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }

    fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(&other)),
            (one, other) => one.float().partial_cmp(&other.float()),
        }
    }
}

/// Returns the number that a text is, if it is one.
pub fn number(text: &str) -> Option<f64> {
    Number::of(text).map(Number::float)
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
        (Scalar::Number(one), Scalar::Number(two)) => one.compare(two),
        (Scalar::Date(one), Scalar::Date(two)) => Some(one.compare(&two)),
        (Scalar::Date(one), Scalar::Number(_)) => Some(one.compare(&Moment::of_year(other)?)),
        (Scalar::Number(_), Scalar::Date(two)) => Some(Moment::of_year(value)?.compare(&two)),
        (Scalar::Text(one), Scalar::Text(two)) => Some(one.cmp(two)),
        _ => None,
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
        ] {
            assert_eq!(compare(less, more, false), Some(Ordering::Less), "{less} {more}");
        }
        assert_eq!(compare("1.10", "1.1", false), Some(Ordering::Equal));
        assert_eq!(compare("1.10", "1.1", true), Some(Ordering::Greater));
        for text in ["inf", "nan", "-", "", "1_000", "0x10", "infinity"] {
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
