use super::Color;

/// Results of pi 1.5.0.
#[test]
fn okhsl_is_read_as_pi_reads_it() {
    let hex = |text: &str| {
        let (red, green, blue) = Color::parse(text).unwrap().rgb().unwrap();
        format!("#{red:02x}{green:02x}{blue:02x}")
    };
    assert_eq!(hex("okhsl(234 3% 89%)"), "#dee0e1");
    assert_eq!(hex("#fa0"), "#ffaa00");
    assert_eq!(hex("196"), "#ff0000");
}

#[test]
fn what_is_no_colour_is_refused() {
    for text in ["red", "#12", "#gggggg", "okhsl(1 2)", "256", "rgb(1 2 3)"] {
        assert_eq!(Color::parse(text), None, "{text}");
    }
}

#[test]
fn fewer_colours_get_the_nearest_ones() {
    let orange = Color::parse("#ff8700").unwrap();
    assert_eq!(orange.code(30, "truecolor"), "\u{1b}[38;2;255;135;0m");
    assert_eq!(orange.code(30, "256color"), "\u{1b}[38;5;208m");
    assert_eq!(Color::parse("#ff0000").unwrap().code(40, "16color"), "\u{1b}[101m");
    assert_eq!(orange.code(30, "none"), "");
    assert_eq!(Color::Default.code(40, "256color"), "\u{1b}[49m");
}
