//! The results of `JSON.stringify(JSON.parse(text))` and `.length` in Node.js 20.

use super::*;

const STRINGIFIED: &[(&str, &str)] = &[
    ("-0", "0"),
    ("-0.0", "0"),
    ("0.0", "0"),
    ("1.0", "1"),
    ("1e2", "100"),
    ("1E+2", "100"),
    ("1e400", "null"),
    ("-1e400", "null"),
    ("1e-400", "0"),
    ("5e-324", "5e-324"),
    ("1e21", "1e+21"),
    ("1e20", "100000000000000000000"),
    ("123456789012345680000", "123456789012345680000"),
    ("9007199254740993", "9007199254740992"),
    ("12345678901234567890", "12345678901234567000"),
    ("0.000001", "0.000001"),
    ("0.0000001", "1e-7"),
    ("1.7976931348623157e308", "1.7976931348623157e+308"),
    ("123456789012345", "123456789012345"),
    ("-999999999999999", "-999999999999999"),
    ("1000000000000000128", "1000000000000000100"),
    ("0.1e1", "1"),
    ("100e-2", "1"),
    ("4.35", "4.35"),
    ("2.5e-7", "2.5e-7"),
    (r#""\ud83d""#, r#""\ud83d""#),
    (r#""\uDE00\uD83D""#, r#""\ude00\ud83d""#),
    (r#""\ud83d\ud83d\ude00""#, "\"\\ud83d😀\""),
    (r#""\uD83D\uDE00""#, "\"😀\""),
    (r#""\ud83dx\ude00""#, r#""\ud83dx\ude00""#),
    (r#""\/\b\f\n\r\t\"\\""#, r#""/\b\f\n\r\t\"\\""#),
    (r#""\u0000\u001f\u007f\u0020""#, "\"\\u0000\\u001f\u{7f} \""),
    (r#""\u000A\u0008\u2028\u00e9\uFFFF""#, "\"\\n\\b\u{2028}é\u{ffff}\""),
    ("\"\u{2028}\u{7f}\u{feff}\"", "\"\u{2028}\u{7f}\u{feff}\""),
    (r#""\u0022\u005c\u002f""#, r#""\"\\/""#),
    (r#"{"b":1,"a":2,"b":3}"#, r#"{"b":3,"a":2}"#),
    (r#"{"a":1,"\u0061":2}"#, r#"{"a":2}"#),
    (r#"{"2":0,"1":0,"x":0,"0":0}"#, r#"{"0":0,"1":0,"2":0,"x":0}"#),
    (r#"{"x":0,"10":1,"9":2}"#, r#"{"9":2,"10":1,"x":0}"#),
    (r#"{"01":0,"1":1,"-1":2,"1.0":3}"#, r#"{"1":1,"01":0,"-1":2,"1.0":3}"#),
    (
        r#"{"a":0,"4294967294":1,"4294967295":2,"4294967293":3}"#,
        r#"{"4294967293":3,"4294967294":1,"a":0,"4294967295":2}"#,
    ),
    (r#"{"a":0,"\u0031":1}"#, r#"{"1":1,"a":0}"#),
    (r#"{"1":"a","a":0,"1":"b"}"#, r#"{"1":"b","a":0}"#),
    (r#"{"__proto__":{"x":1},"a":2}"#, r#"{"__proto__":{"x":1},"a":2}"#),
    (r#"{"a":1,"__proto__":null,"__proto__":2}"#, r#"{"a":1,"__proto__":2}"#),
    (r#"{"toJSON":1,"constructor":2}"#, r#"{"toJSON":1,"constructor":2}"#),
    (r#"{"":1,"":2}"#, r#"{"":2}"#),
    (r#"{"\ud800":1,"\ufffd":2,"\ud800":3}"#, "{\"\\ud800\":3,\"�\":2}"),
    (r#"{"b":{"b":1,"b":2},"1":[{"z":0,"0":0}],"b":7}"#, r#"{"1":[{"0":0,"z":0}],"b":7}"#),
    (
        " [ 1 , { \"a\" : [ ] , \"b\" : { } } , null , true , false ] \r\n",
        r#"[1,{"a":[],"b":{}},null,true,false]"#,
    ),
    (r#""\u00E9\u00e9""#, "\"éé\""),
    (r#"[[],{},"",0]"#, r#"[[],{},"",0]"#),
];

#[test]
fn values_are_written_as_javascript_writes_them() {
    for (text, expected) in STRINGIFIED {
        assert_eq!(doc(text).root().js_string(), *expected, "{text}");
    }
}

/// The bytes of a string, and its length and text in JavaScript.
const BROKEN_UTF8: &[(&[u8], usize, &str)] = &[
    (b"\x80", 1, "\u{FFFD}"),
    (b"\xc3", 1, "\u{FFFD}"),
    (b"\xe2\x82", 1, "\u{FFFD}"),
    (b"\xf0\x9f\x98", 1, "\u{FFFD}"),
    (b"\xed\xa0\x80", 3, "\u{FFFD}\u{FFFD}\u{FFFD}"),
    (b"\xf4\x90\x80\x80", 4, "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    (b"\xc0\xaf", 2, "\u{FFFD}\u{FFFD}"),
    (b"\xe2\x82A", 2, "\u{FFFD}A"),
    (b"\xf0\x9f\x98\x80", 2, "😀"),
];

#[test]
fn broken_utf8_is_replaced_and_counted_as_in_javascript() {
    for (bytes, len, expected) in BROKEN_UTF8 {
        let doc = Doc::parse([b"\"", *bytes, b"\""].concat()).unwrap();
        assert_eq!(doc.root().as_str().unwrap(), *expected);
        assert_eq!(doc.root().utf16_len(), *len, "{}", bytes.escape_ascii());
        assert_eq!(doc.root().js_string(), format!("\"{expected}\""));
    }
}

#[test]
fn keys_that_only_differ_in_broken_bytes_are_one_key() {
    let doc = Doc::parse(&b"{\"\xff\":1,\"\xfe\":2}"[..]).unwrap();
    assert_eq!(doc.root().js_string(), "{\"\u{FFFD}\":2}");
}

#[test]
fn escapes_are_counted_as_utf16_units() {
    let cases = [
        (r#""""#, 0),
        (r#""abc""#, 3),
        (r#""\n\u0041\"""#, 3),
        (r#""\ud83d""#, 1),
        (r#""\ud83d\ude00""#, 2),
        (r#""\ud83d\ud83d\ude00""#, 3),
        (r#""é€😀""#, 4),
    ];
    for (text, expected) in cases {
        assert_eq!(doc(text).root().utf16_len(), expected, "{text}");
    }
}

#[test]
fn large_objects_are_merged_and_sorted_too() {
    let members: Vec<_> =
        (0..100).rev().flat_map(|n| [format!("\"{n}\":0"), format!("\"k{}\":{n}", n % 50)]).collect();
    let text = format!("{{{}}}", members.join(","));
    let numbers = (0..100).map(|n| format!("\"{n}\":0"));
    let names = (0..50).rev().map(|n| format!("\"k{n}\":{n}"));
    let expected = format!("{{{}}}", numbers.chain(names).collect::<Vec<_>>().join(","));
    assert_eq!(doc(&text).root().js_string(), expected);
}
