use super::*;

#[test]
fn canonical_times_are_read_as_they_are_written() {
    for millis in [0, 951_782_399_999, 951_782_400_000, 1_765_241_574_397, 4_102_444_800_000, 1] {
        let text = Timestamp(millis).to_string();
        assert_eq!(parse_canonical(text.as_bytes()), Some(Timestamp(millis)), "{text}");
        assert_eq!(parse_other(&text), Some(Timestamp(millis)), "{text}");
    }
}

#[test]
fn impossible_dates_are_no_times() {
    for text in [
        "2025-02-30T00:00:00.000Z",
        "2025-13-01T00:00:00.000Z",
        "2025-01-01T25:00:00.000Z",
        "x",
        "",
        "2025",
        "2025-01",
        "2025-0101",
        "2025-01-01T",
        "2025-01-01T00:00:00.Z",
        "2025-01-01T00:00:00Zx",
        "2025-01-01T00:60Z",
        "2025-01-01T00:00:00+",
        "+2025-01-01",
        "2025-01-01T00:00:00.1234567890Z",
        "20-25-01T00:00:00Z",
    ] {
        assert_eq!(Timestamp::parse(text), None, "{text}");
    }
}

#[test]
fn the_days_of_twenty_thousand_years_are_written_and_read() {
    let first = days_from_civil(-9999, 1, 1);
    let mut expected = (-9999, 1, 1);
    for days in first..days_from_civil(9999, 12, 31) {
        assert_eq!(civil_from_days(days), expected);
        if days % 1009 == 0 {
            let time = Timestamp(days * 86_400_000 + 45_296_789);
            assert_eq!(Timestamp::parse(&time.to_string()), Some(time), "{time}");
        }
        let (year, month, day) = expected;
        expected = match (day == days_in(year, month), month) {
            (false, _) => (year, month, day + 1),
            (true, 12) => (year + 1, 1, 1),
            (true, _) => (year, month + 1, 1),
        };
    }
    assert_eq!(Timestamp(-62_167_219_200_001).to_string(), "-000001-12-31T23:59:59.999Z");
    assert_eq!(Timestamp(i64::MAX).to_string(), "invalid time");
    assert_eq!(Timestamp(i64::MIN).to_string(), "invalid time");
}

#[test]
fn other_spellings_are_understood() {
    assert_eq!(Timestamp::parse("1970-01-01"), Some(Timestamp(0)));
    for text in [
        "19700101T000001Z",
        "1970-01-01t00:00:01z",
        "1970-01-01 00:00:01.000999999",
        "+001970-01-01T01+00:59:59",
    ] {
        assert_eq!(Timestamp::parse(text), Some(Timestamp(1000)), "{text}");
    }
    assert_eq!(Timestamp::parse("1970-01-01T00:00:60Z"), Some(Timestamp(59_000)));
    assert_eq!(Timestamp::parse("1970-01-01T00:00:01Z"), Some(Timestamp(1000)));
    assert_eq!(Timestamp::parse("1970-01-01T01:00:00+01:00"), Some(Timestamp(0)));
    assert_eq!(Timestamp::parse("1970-01-01T00:00:00.5"), Some(Timestamp(500)));
}
