//! Lines that a program wrote with escape codes: colours become styles, everything else that steers a terminal is
//! dropped.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::clean::clean;

/// Reads one line. What is left is text in styles, and nothing that could steer a terminal.
pub fn line(text: &str) -> Line<'static> {
    let mut reader = Reader { style: Style::new(), text: String::new(), spans: Vec::new() };
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\x1b' => reader.escape(&mut chars),
            '\t' => reader.text.push_str("    "),
            c => reader.text.push(c),
        }
    }
    reader.flush();
    Line::from(reader.spans)
}

struct Reader {
    style: Style,
    text: String,
    spans: Vec<Span<'static>>,
}

impl Reader {
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.spans.push(Span::styled(clean(&self.text).into_owned(), self.style));
            self.text.clear();
        }
    }

    /// Reads what follows an escape character.
    fn escape(&mut self, chars: &mut std::str::Chars<'_>) {
        match chars.next() {
            Some('[') => self.control(chars),
            // Titles, links, images: up to their end.
            Some(']' | '_' | 'P' | '^' | 'X') => skip_string(chars),
            _ => {}
        }
    }

    fn control(&mut self, chars: &mut std::str::Chars<'_>) {
        let mut parameters = String::new();
        for c in chars {
            match c {
                '\x40'..='\x7e' => {
                    if c == 'm' {
                        self.flush();
                        self.style = styled(self.style, &parameters);
                    }
                    return;
                }
                c => parameters.push(c),
            }
        }
    }
}

fn skip_string(chars: &mut std::str::Chars<'_>) {
    while let Some(c) = chars.next() {
        match c {
            '\x07' | '\u{9c}' => return,
            '\x1b' => {
                // The other half of the end.
                chars.next();
                return;
            }
            _ => {}
        }
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
