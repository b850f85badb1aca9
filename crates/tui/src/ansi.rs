//! Lines that a program wrote with escape codes: colours become styles, all other codes are dropped.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::clean::clean;

/// Reads one line. The result is text in styles, without anything that could steer a terminal.
pub fn line(text: &str) -> Line<'static> {
    let mut spans = Vec::new();
    let (mut style, mut rest) = (Style::new(), text);
    loop {
        let (plain, code) = rest.split_once('\x1b').map_or((rest, None), |(plain, code)| (plain, Some(code)));
        if !plain.is_empty() {
            spans.push(Span::styled(clean(&plain.replace('\t', "    ")).into_owned(), style));
        }
        let Some(code) = code else { return Line::from(spans) };
        (style, rest) = escape(code, style);
    }
}

/// Reads the code after an escape character; returns the style and the rest of the text after it.
fn escape(text: &str, style: Style) -> (Style, &str) {
    let mut chars = text.chars();
    let (kind, after) = (chars.next(), chars.as_str());
    match kind {
        Some('[') => match after.find(|c| matches!(c, '\x40'..='\x7e')) {
            Some(end) if after[end..].starts_with('m') => (styled(style, &after[..end]), &after[end + 1..]),
            Some(end) => (style, &after[end + 1..]),
            None => (style, ""),
        },
        // Titles, links, images: up to BEL, ST, or an escape character with the other half of ST.
        Some(']' | '_' | 'P' | '^' | 'X') => {
            let mut rest = after.find(['\x07', '\u{9c}', '\x1b']).map_or("", |end| &after[end..]).chars();
            if rest.next() == Some('\x1b') {
                rest.next();
            }
            (style, rest.as_str())
        }
        _ => (style, after),
    }
}

/// Changes a style as the numbers say.
fn styled(mut style: Style, parameters: &str) -> Style {
    let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or(0));
    while let Some(number) = numbers.next() {
        style = match number {
            0 => Style::new(),
            22 => style.remove_modifier(Modifier::BOLD | Modifier::DIM),
            23 => style.remove_modifier(Modifier::ITALIC),
            24 => style.remove_modifier(Modifier::UNDERLINED),
            27 => style.remove_modifier(Modifier::REVERSED),
            29 => style.remove_modifier(Modifier::CROSSED_OUT),
            30..=37 => style.fg(Color::Indexed(number - 30)),
            38 => colour(&mut numbers).map_or(style, |colour| style.fg(colour)),
            39 => Style { fg: None, ..style },
            40..=47 => style.bg(Color::Indexed(number - 40)),
            48 => colour(&mut numbers).map_or(style, |colour| style.bg(colour)),
            49 => Style { bg: None, ..style },
            90..=97 => style.fg(Color::Indexed(number - 90 + 8)),
            100..=107 => style.bg(Color::Indexed(number - 100 + 8)),
            number => modifier(number).map_or(style, |modifier| style.add_modifier(modifier)),
        };
    }
    style
}

fn modifier(number: u8) -> Option<Modifier> {
    Some(match number {
        1 => Modifier::BOLD,
        2 => Modifier::DIM,
        3 => Modifier::ITALIC,
        4 => Modifier::UNDERLINED,
        7 => Modifier::REVERSED,
        9 => Modifier::CROSSED_OUT,
        _ => return None,
    })
}

fn colour(numbers: &mut impl Iterator<Item = u8>) -> Option<Color> {
    match numbers.next()? {
        5 => Some(Color::Indexed(numbers.next()?)),
        2 => Some(Color::Rgb(numbers.next()?, numbers.next()?, numbers.next()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
