//! Numbers of JSON texts: read as JavaScript reads them, written as JavaScript writes them.
//!
//! Callers pass bytes that the grammar has accepted as a number.

use std::str;

/// The most digits that JavaScript certainly prints as they are (2^53 has sixteen).
const EXACT_DIGITS: usize = 15;

/// Reads a number; an overflow is infinite.
pub(super) fn to_f64(raw: &[u8]) -> f64 {
    // Most numbers are counts.
    if raw.len() <= EXACT_DIGITS && raw.iter().all(u8::is_ascii_digit) {
        return raw.iter().fold(0_u64, |number, digit| number * 10 + u64::from(digit - b'0')) as f64;
    }
    str::from_utf8(raw).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Reads a number that is integral and fits.
pub(super) fn to_i64(raw: &[u8]) -> Option<i64> {
    if is_plain(raw) {
        return str::from_utf8(raw).ok()?.parse().ok();
    }
    let number = to_f64(raw);
    // 2^63 is the first `f64` that does not fit.
    let fits = number.trunc() == number && (-(2f64.powi(63))..2f64.powi(63)).contains(&number);
    fits.then_some(number as i64)
}

/// Reads a number for `serde_json`: exactly if it can hold it, else as `f64`, else as `null`.
pub(super) fn to_serde(raw: &[u8]) -> serde_json::Value {
    let text = str::from_utf8(raw).unwrap_or_default();
    if is_plain(raw) && raw != b"-0" {
        if let Ok(number) = text.parse::<i64>() {
            return number.into();
        }
        if let Ok(number) = text.parse::<u64>() {
            return number.into();
        }
    }
    // `From<f64>` gives `null` for an infinite number.
    to_f64(raw).into()
}

/// Appends the number as JavaScript prints it; `null` if it is infinite.
pub(super) fn write_js(out: &mut String, raw: &[u8]) {
    if is_plain(raw) && raw.len() <= EXACT_DIGITS && raw != b"-0" {
        out.extend(raw.iter().map(|byte| char::from(*byte)));
        return;
    }
    let number = to_f64(raw);
    if !number.is_finite() {
        out.push_str("null");
    } else if number == 0.0 {
        // Also for -0, which JavaScript prints without its sign.
        out.push('0');
    } else {
        out.push_str(ryu_js::Buffer::new().format_finite(number));
    }
}

/// Returns true if the number has neither fraction nor exponent.
fn is_plain(raw: &[u8]) -> bool {
    !raw.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}
