//! Colours of theme files: their spellings, and their codes on terminals with fewer colours.

/// A colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// The default of the terminal.
    Default,
    /// A colour of the palette of 256.
    Indexed(u8),
    /// Red, green and blue.
    Rgb(u8, u8, u8),
}

/// The sixteen colours as most terminals show them.
const SIXTEEN: [(u8, u8, u8); 16] = [
    (0, 0, 0),
    (128, 0, 0),
    (0, 128, 0),
    (128, 128, 0),
    (0, 0, 128),
    (128, 0, 128),
    (0, 128, 128),
    (192, 192, 192),
    (128, 128, 128),
    (255, 0, 0),
    (0, 255, 0),
    (255, 255, 0),
    (0, 0, 255),
    (255, 0, 255),
    (0, 255, 255),
    (255, 255, 255),
];

/// The steps of the cube of colours in the palette.
const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];

impl Color {
    /// Reads `#rgb`, `#rrggbb`, `okhsl(h s% l%)`, `oklch(l c h)`, a number up to 255, or the empty text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Some(Color::Default);
        }
        if let Ok(index) = text.parse() {
            return Some(Color::Indexed(index));
        }
        if let Some(hex) = text.strip_prefix('#') {
            return from_hex(hex);
        }
        let (function, rest) = text.strip_suffix(')')?.split_once('(')?;
        let number = |part: &str| -> Option<f64> {
            match part.strip_suffix('%') {
                Some(percent) => percent.parse::<f64>().ok().map(|value| value / 100.0),
                None => part.trim_end_matches("deg").parse().ok(),
            }
        };
        let parts: Vec<f64> =
            rest.split([' ', ',']).filter(|part| !part.is_empty()).map(number).collect::<Option<_>>()?;
        let [one, two, three] = parts.try_into().ok()?;
        match function {
            "okhsl" => Some(from_okhsl(one, two, three)),
            "oklch" => Some(of_linear(linear(one, two, three.to_radians()))),
            _ => None,
        }
    }

    /// Returns red, green and blue; nothing for the default colour.
    pub fn rgb(self) -> Option<(u8, u8, u8)> {
        match self {
            Color::Default => None,
            Color::Rgb(red, green, blue) => Some((red, green, blue)),
            Color::Indexed(index) => Some(match index {
                0..=15 => SIXTEEN[usize::from(index)],
                16..=231 => {
                    let step = |weight: u8| STEPS[usize::from((index - 16) / weight % 6)];
                    (step(36), step(6), step(1))
                }
                _ => {
                    let grey = 8 + (index - 232) * 10;
                    (grey, grey, grey)
                }
            }),
        }
    }

    /// Returns the colour of the palette of 256 that is nearest.
    pub fn nearest(self) -> u8 {
        match self {
            Color::Indexed(index) => index,
            _ => self.nearest_of(16..=255),
        }
    }

    /// Returns the colour of the sixteen that is nearest.
    pub fn nearest_of_sixteen(self) -> u8 {
        match self {
            Color::Indexed(index @ 0..=15) => index,
            _ => self.nearest_of(0..=15),
        }
    }

    fn nearest_of(self, palette: std::ops::RangeInclusive<u8>) -> u8 {
        let Some(own) = self.rgb() else { return 7 };
        palette
            .min_by_key(|index| Color::Indexed(*index).rgb().map_or(u32::MAX, |other| distance(own, other)))
            .unwrap_or(7)
    }

    /// Returns the escape code that selects the colour: `base` is 30 for text, 40 for backgrounds.
    pub fn code(self, base: u8, mode: &str) -> String {
        match (self, mode) {
            (_, "none") => String::new(),
            (Color::Default, _) => format!("\u{1b}[{}m", base + 9),
            (Color::Rgb(red, green, blue), "truecolor") => {
                format!("\u{1b}[{};2;{red};{green};{blue}m", base + 8)
            }
            (color, "16color") => match color.nearest_of_sixteen() {
                index @ 0..=7 => format!("\u{1b}[{}m", base + index),
                index => format!("\u{1b}[{}m", base + 52 + index),
            },
            (color, _) => format!("\u{1b}[{};5;{}m", base + 8, color.nearest()),
        }
    }
}

/// Returns how different two colours look; the eye sees green best and blue least.
fn distance(one: (u8, u8, u8), other: (u8, u8, u8)) -> u32 {
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    299 * square(one.0, other.0) + 587 * square(one.1, other.1) + 114 * square(one.2, other.2)
}

fn from_hex(hex: &str) -> Option<Color> {
    let part = |at: usize, length: usize| {
        let digits = hex.get(at * length..(at + 1) * length)?;
        let value = u8::from_str_radix(digits, 16).ok()?;
        Some(if length == 1 { value * 17 } else { value })
    };
    let length = match hex.len() {
        3 => 1,
        6 => 2,
        _ => return None,
    };
    Some(Color::Rgb(part(0, length)?, part(1, length)?, part(2, length)?))
}

/// Returns linear red, green and blue of a colour of the space Oklch.
fn linear(lightness: f64, chroma: f64, hue: f64) -> [f64; 3] {
    let (a, b) = (chroma * hue.cos(), chroma * hue.sin());
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
    ]
}

fn of_linear(parts: [f64; 3]) -> Color {
    let byte = |part: f64| {
        let part = part.clamp(0.0, 1.0);
        let encoded = if part <= 0.003_130_8 { 12.92 * part } else { 1.055 * part.powf(1.0 / 2.4) - 0.055 };
        (encoded * 255.0).round() as u8
    };
    Color::Rgb(byte(parts[0]), byte(parts[1]), byte(parts[2]))
}

/// Returns the largest value up to one for which a condition holds that holds for zero.
fn largest(holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// Reads a colour of the space Okhsl: hue in degrees, saturation and lightness up to one.
fn from_okhsl(hue: f64, saturation: f64, lightness: f64) -> Color {
    let (hue, s) = (hue.to_radians(), saturation.clamp(0.0, 1.0));
    if lightness <= 0.0 || lightness >= 1.0 {
        return of_linear([lightness.clamp(0.0, 1.0); 3]);
    }
    // Perceived lightness as the lightness of Oklab.
    let (k1, k2) = (0.206, 0.03);
    let k3 = (1.0 + k1) / (1.0 + k2);
    let l = (lightness * lightness + k1 * lightness) / (k3 * (lightness + k2));
    let (a, b) = (hue.cos(), hue.sin());
    // The most colourful point of the hue.
    let steepest = largest(|chroma| linear(1.0, chroma, hue).iter().all(|part| *part >= 0.0));
    let brightest = linear(1.0, steepest, hue).into_iter().fold(f64::MIN, f64::max);
    let cusp_l = (1.0 / brightest).cbrt();
    let cusp_c = cusp_l * steepest;
    let c_max =
        largest(|chroma| linear(l, chroma, hue).iter().all(|part| (-1e-9..=1.0 + 1e-9).contains(part)));
    let k = c_max / (l * cusp_c / cusp_l).min((1.0 - l) * cusp_c / (1.0 - cusp_l));
    // A smooth estimate of the middle of the gamut.
    let s_mid = 0.115_169_93
        + 1.0
            / (7.447_789_7
                + 4.159_012_4 * b
                + a * (-2.195_573_47
                    + 1.751_984_01 * b
                    + a * (-2.137_049_48 - 10.023_010_43 * b
                        + a * (-4.248_945_61 + 5.387_708_19 * b + 4.698_910_13 * a))));
    let t_mid = 0.112_396_42
        + 1.0
            / (1.613_203_2 - 0.681_243_79 * b
                + a * (0.403_706_12
                    + 0.901_481_23 * b
                    + a * (-0.270_879_43
                        + 0.612_239_9 * b
                        + a * (0.002_992_15 - 0.453_995_68 * b - 0.146_618_72 * a))));
    let softened = |one: f64, other: f64, power: i32| {
        (1.0 / (one.powi(-power) + other.powi(-power))).powf(1.0 / f64::from(power))
    };
    let c_mid = 0.9 * k * softened(l * s_mid, (1.0 - l) * t_mid, 4);
    let c_0 = softened(l * 0.4, (1.0 - l) * 0.8, 2);
    let mid = 0.8;
    let chroma = if s < mid {
        let t = s / mid;
        let k1 = mid * c_0;
        t * k1 / (1.0 - (1.0 - k1 / c_mid) * t)
    } else {
        let t = (s - mid) / (1.0 - mid);
        let k1 = (1.0 - mid) * c_mid * c_mid / (mid * mid * c_0);
        c_mid + t * k1 / (1.0 - (1.0 - k1 / (c_max - c_mid)) * t)
    };
    of_linear(linear(l, chroma, hue))
}

#[cfg(test)]
mod tests;
