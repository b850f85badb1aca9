//! The plot: how many times as much each peer takes, on a logarithmic scale.

use std::fmt::Write as _;

use super::Measured;

const COLOURS: [&str; 3] = ["#3b82c4", "#8a8f98", "#c9822f"];
/// The size that is drawn; what has no size is drawn too.
const SIZE: &str = "100k";
const LEFT: f64 = 250.0;
const WIDTH: f64 = 560.0;
const BAR: f64 = 9.0;
const GAP: f64 = 12.0;
/// Powers of ten to the right of "as much as ours".
const DECADES: i32 = 4;

/// Draws the lines of one size as bars.
pub(super) fn svg(measured: &[Measured], names: &[&str]) -> String {
    let lines: Vec<&Measured> =
        measured.iter().filter(|line| line.size == SIZE || !line.size.ends_with(['k', 'M'])).collect();
    let group = BAR * names.len() as f64 + GAP;
    let (top, height) = (54.0, group * lines.len() as f64);
    let mut out = String::new();
    let mut push = |text: String| out.push_str(&text);
    push(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        LEFT + WIDTH + 90.0,
        top + height + 30.0,
    ));
    push(legend(names));
    push(grid(top, height));
    for (at, line) in lines.iter().enumerate() {
        push(bars(line, top + group * at as f64 + GAP / 2.0));
    }
    push("</svg>\n".to_owned());
    out
}

fn x(ratio: f64) -> f64 {
    LEFT + WIDTH * (ratio.max(0.1).log10() + 0.3).max(0.0) / (f64::from(DECADES) + 0.3)
}

fn legend(names: &[&str]) -> String {
    let mut out = format!(
        "<text x=\"10\" y=\"20\" font-weight=\"bold\">times as much as offshoot (CPU time, memory), {SIZE} entries</text>"
    );
    for (at, name) in names.iter().enumerate() {
        let (left, colour) = (LEFT + 190.0 * at as f64, COLOURS[at % COLOURS.len()]);
        let _ = writeln!(
            out,
            "<rect x=\"{left}\" y=\"32\" width=\"10\" height=\"10\" fill=\"{colour}\"/><text x=\"{}\" y=\"41\">{name}</text>",
            left + 15.0
        );
    }
    out
}

fn grid(top: f64, height: f64) -> String {
    let mut out = String::new();
    for decade in 0..=DECADES {
        let (at, bottom) = (x(10_f64.powi(decade)), top + height);
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#d5d8dc\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{} x</text>",
            bottom + 18.0,
            10_u32.pow(decade.unsigned_abs()),
        );
    }
    out
}

fn bars(line: &Measured, top: f64) -> String {
    let work = line.work;
    let mut out =
        format!("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{work}</text>", LEFT - 8.0, top + 18.0);
    for (at, theirs) in line.theirs.iter().enumerate() {
        let y = top + BAR * at as f64;
        let Some(theirs) = theirs else {
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\" font-size=\"8\" fill=\"#999\">cannot</text>",
                x(1.0) + 4.0,
                y + 8.0
            );
            continue;
        };
        let ratio = theirs.number() / line.ours.number();
        let (start, end) = (x(ratio.min(1.0)), x(ratio.max(1.0)));
        let _ = writeln!(
            out,
            "<rect x=\"{start:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{}\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" font-size=\"8\" fill=\"#444\">{}</text>",
            (end - start).max(1.0),
            BAR - 1.0,
            COLOURS[at % COLOURS.len()],
            end + 3.0,
            y + 7.5,
            crate::table::digits(ratio),
        );
    }
    out
}
