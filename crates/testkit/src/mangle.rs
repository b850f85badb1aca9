//! Small session files, sound and broken, drawn from a seed.
//!
//! seed, index -> class -> **entries** -> lines -> damage -> bytes
//!
//! Used to compare the engine with recorded answers of the program whose files it reads, and to throw
//! odd bytes at the loader. Never touches files, clocks or the engine itself: the same seed and index
//! give the same bytes on every machine.

mod damage;
mod draw;
mod entries;
mod messages;

use self::draw::Draw;
use self::entries::{Mix, SessionGenerator};

/// One generated session file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// File name: six digits of the index, then the class, then `.jsonl`.
    pub name: String,
    /// The class of the file.
    pub class: Class,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

macro_rules! classes {
    ($($variant:ident $name:literal $weight:literal $doc:literal;)*) => {
        /// The class of a generated file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Class {
            $(#[doc = $doc] $variant,)*
        }

        impl Class {
            /// Every class, sound ones first.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Returns the part of the file name that names the class.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns how many files of this class stand in one round of all classes.
            const fn weight(self) -> u64 {
                match self { $(Self::$variant => $weight,)* }
            }
        }
    };
}

classes! {
    Valid "v3-valid" 10 "Every entry type of version 3, well formed.";
    Branches "v3-branches" 3 "Many moves of the leaf, several roots.";
    Compactions "v3-compactions" 5 "Many compactions with all kinds of first kept entries.";
    Edits "v3-context-edits" 4 "Many context edits, also of entries that cannot be edited.";
    Labels "v3-labels" 4 "Labels set, replaced and cleared on all branches.";
    Systems "v3-systems" 2 "System messages with sections and tools, and compactions that replay them.";
    OddParents "v3-odd-parents" 2 "Unknown, empty, absent and forward parents.";
    OddTimes "v3-odd-times" 2 "Equal, unparsable, absent and differently spelled times.";
    OddContents "v3-odd-contents" 2 "Absent and null contents, messages, summaries and fields.";
    Foreign "v3-foreign" 3 "Unknown types, unknown roles and what oh-my-pi adds.";
    OddHeader "v3-odd-header" 1 "Headers with absent or strange fields and newer versions.";
    V2 "v2" 3 "Version 2 with hook messages.";
    V1 "v1" 4 "Version 1: no ids, compactions that count lines.";
    V1Damaged "v1-damaged" 1 "Version 1 with bad lines between the entries.";
    NoFinalLf "no-final-lf" 1 "The last line lacks its line feed.";
    Crlf "crlf" 1 "Lines end in carriage return and line feed.";
    BlankLines "blank-lines" 1 "Blank lines between the entries and before the header.";
    Bom "bom" 1 "A byte order mark before the header.";
    FlippedBytes "flipped-bytes" 2 "Single bytes changed.";
    CutLines "cut-lines" 2 "Lines that end too early, the last one included.";
    GluedLines "glued-lines" 1 "Line feeds lost between entries.";
    NulBytes "nul-bytes" 1 "Runs of zero bytes in and between lines.";
    ScalarLines "scalar-lines" 1 "Lines that are JSON but no entry.";
    DuplicatedLines "duplicated-lines" 1 "Lines written twice, some with another text.";
    SwappedLines "swapped-lines" 1 "Entries before their parents.";
    SecondHeader "second-header" 1 "More headers in the middle of the file.";
    InvalidUtf8 "invalid-utf8" 1 "Bytes that are not UTF-8 inside strings and outside.";
    LoneSurrogates "lone-surrogates" 1 "Escaped halves of surrogate pairs.";
    HugeNumbers "huge-numbers" 1 "Numbers that change when they are read as floating point.";
    DuplicateKeys "duplicate-keys" 1 "Objects that name a key twice.";
    DeepNesting "deep-nesting" 1 "Arrays and objects nested hundreds of levels deep.";
    Cycles "cycles" 1 "Parents that lead back to their children, and entries that are their own parents.";
    ShuffledKeys "shuffled-keys" 1 "Members of entries in any order.";
    InnerWhitespace "inner-whitespace" 1 "Blanks between the tokens of a line.";
}

/// Draws the file with this index.
///
/// Files do not depend on each other, so a single one can be drawn again to look at a failure.
#[must_use]
pub fn file(seed: u64, index: u64) -> GeneratedFile {
    let class = class_of(index);
    let mut draw = Draw::new(seed, index);
    GeneratedFile {
        name: format!("{index:06}-{}.jsonl", class.name()),
        class,
        bytes: bytes(class, &mut draw),
    }
}

/// Draws the files with the indexes `0..count`.
pub fn files(seed: u64, count: u64) -> impl Iterator<Item = GeneratedFile> {
    (0..count).map(move |index| file(seed, index))
}

/// Walks through all classes in turn, each as often as its weight says.
fn class_of(index: u64) -> Class {
    let round: u64 = Class::ALL.iter().map(|class| class.weight()).sum();
    // 29 shares no divisor with the round, so neighbours in the listing differ in class.
    let mut slot = index.wrapping_mul(29) % round;
    for &class in Class::ALL {
        if slot < class.weight() {
            return class;
        }
        slot -= class.weight();
    }
    Class::Valid
}

fn bytes(class: Class, draw: &mut Draw) -> Vec<u8> {
    let sound = |draw: &mut Draw, mix| SessionGenerator::new(draw, mix).v3(draw);
    match class {
        Class::Valid => text(&sound(draw, Mix::Everything)),
        Class::Branches => text(&sound(draw, Mix::Branches)),
        Class::Compactions => text(&sound(draw, Mix::Compactions)),
        Class::Edits => text(&sound(draw, Mix::Edits)),
        Class::Labels => text(&sound(draw, Mix::Labels)),
        Class::Systems => text(&sound(draw, Mix::Systems)),
        Class::Foreign => text(&sound(draw, Mix::Foreign)),
        Class::OddParents => text(&damage::odd_parents(sound(draw, Mix::Branches), draw)),
        Class::OddTimes => text(&damage::odd_times(sound(draw, Mix::Branches), draw)),
        Class::OddContents => text(&damage::odd_contents(sound(draw, Mix::Everything), draw)),
        Class::OddHeader => text(&damage::odd_header(sound(draw, Mix::Everything), draw)),
        Class::V2 => text(&SessionGenerator::new(draw, Mix::Hooks).v2(draw)),
        Class::V1 => text(&SessionGenerator::new(draw, Mix::First).v1(draw)),
        Class::V1Damaged => {
            damage::scalar_lines(&text(&SessionGenerator::new(draw, Mix::First).v1(draw)), draw)
        }
        Class::Cycles => text(&damage::cycles(sound(draw, Mix::Branches), draw)),
        Class::ShuffledKeys => text(&damage::shuffled_keys(sound(draw, Mix::Everything), draw)),
        Class::NoFinalLf => damage::no_final_lf(base(draw)),
        Class::Crlf => damage::crlf(&base(draw)),
        Class::BlankLines => damage::blank_lines(&base(draw), draw),
        Class::Bom => damage::bom(&base(draw)),
        Class::FlippedBytes => damage::flipped_bytes(base(draw), draw),
        Class::CutLines => damage::cut_lines(&base(draw), draw),
        Class::GluedLines => damage::glued_lines(base(draw), draw),
        Class::NulBytes => damage::nul_bytes(base(draw), draw),
        Class::ScalarLines => damage::scalar_lines(&base(draw), draw),
        Class::DuplicatedLines => damage::duplicated_lines(&base(draw), draw),
        Class::SwappedLines => damage::swapped_lines(&base(draw), draw),
        Class::SecondHeader => damage::second_header(&base(draw), draw),
        Class::InvalidUtf8 => damage::invalid_utf8(base(draw), draw),
        Class::LoneSurrogates => damage::lone_surrogates(&base(draw), draw),
        Class::HugeNumbers => damage::huge_numbers(&base(draw), draw),
        Class::DuplicateKeys => damage::duplicate_keys(&base(draw), draw),
        Class::DeepNesting => damage::deep_nesting(&base(draw), draw),
        Class::InnerWhitespace => damage::inner_whitespace(&base(draw), draw),
    }
}

/// The file that bytes are damaged in: mostly version 3, sometimes an older one.
fn base(draw: &mut Draw) -> Vec<u8> {
    text(&match draw.below(10) {
        0 => SessionGenerator::new(draw, Mix::First).v1(draw),
        1 => SessionGenerator::new(draw, Mix::Hooks).v2(draw),
        _ => SessionGenerator::new(draw, Mix::Everything).v3(draw),
    })
}

/// One compact line per object.
fn text(objects: &[entries::Object]) -> Vec<u8> {
    let mut out = Vec::new();
    for object in objects {
        out.extend_from_slice(serde_json::Value::Object(object.clone()).to_string().as_bytes());
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests;
