//! Reads a shell command line character by character.

use super::super::words::Word;
use super::Script;

/// A position in a text.
pub(super) struct Reader {
    text: Vec<char>,
    at: usize,
    depth: usize,
    words: Vec<Word>,
    word: Option<Word>,
    redirection: Option<Redirection>,
}

/// The kind of redirection that the next word is the target of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Redirection {
    /// A file.
    File,
    /// A file or a descriptor.
    Duplicate,
}

impl Reader {
    pub(super) fn new(text: &str, depth: usize) -> Self {
        Reader {
            text: text.chars().collect(),
            at: 0,
            depth,
            words: Vec::new(),
            word: None,
            redirection: None,
        }
    }

    /// Reads everything into simple commands.
    pub(super) fn read_into(mut self, script: &mut Script) {
        while let Some(c) = self.next() {
            match c {
                ' ' | '\t' => self.end_word(script),
                '\n' | ';' | '|' | ')' => {
                    // `;;` belongs to a `case`.
                    script.is_unclear |= c == ';' && self.peek() == Some(';');
                    self.end_command(script);
                }
                '&' if self.peek() == Some('>') => {}
                '&' => self.end_command(script),
                '(' => self.open(script),
                '<' | '>' => self.redirect(c, script),
                '#' if self.word.is_none() => self.skip_comment(),
                _ => self.read_in_word(c, script),
            }
        }
        self.end_command(script);
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek();
        self.at += usize::from(c.is_some());
        c
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_with(|| Word { text: String::new(), is_dynamic: false })
    }

    fn push(&mut self, c: char) {
        self.word().text.push(c);
    }

    fn end_word(&mut self, script: &mut Script) {
        let Some(word) = self.word.take() else { return };
        match self.redirection.take() {
            None => self.words.push(word),
            Some(kind) => script.is_unclear |= !is_harmless(kind, &word),
        }
    }

    fn end_command(&mut self, script: &mut Script) {
        self.end_word(script);
        script.is_unclear |= self.redirection.take().is_some();
        let command = std::mem::take(&mut self.words);
        script.is_unclear |= command.first().is_some_and(|word| ["case", "function"].contains(&&*word.text));
        script.push(command, self.depth);
    }

    /// Reads a parenthesis: a subshell at the start of a command, otherwise unclear.
    fn open(&mut self, script: &mut Script) {
        let is_subshell = self.word.is_none() && self.words.is_empty() && self.peek() != Some('(');
        script.is_unclear |= !is_subshell;
        self.end_command(script);
    }

    /// Reads a redirection. Only descriptors and `/dev/null` are harmless; here-documents and process substitutions are
    /// not parsed.
    fn redirect(&mut self, c: char, script: &mut Script) {
        if self.word.as_ref().is_some_and(|word| word.text.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word(script);
        match self.peek() {
            Some('(') => script.is_unclear = true,
            Some('<') if c == '<' => script.is_unclear = true,
            Some('&') => {
                self.at += 1;
                self.redirection = Some(Redirection::Duplicate);
            }
            Some('>' | '|') => {
                self.at += 1;
                self.redirection = Some(Redirection::File);
            }
            _ => self.redirection = Some(Redirection::File),
        }
    }

    fn skip_comment(&mut self) {
        // A comment inside a substitution may hide its end; see `balanced`.
        while self.peek().is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn read_in_word(&mut self, c: char, script: &mut Script) {
        match c {
            '\\' => match self.next() {
                Some('\n') => {}
                Some(c) => self.push(c),
                None => script.is_unclear = true,
            },
            '\'' => self.single_quoted(script),
            '"' => self.double_quoted(script),
            '$' => self.dollar(script),
            '`' => self.backquoted(script),
            '*' | '?' | '[' | '{' => self.push_dynamic(c),
            '~' if self.word.is_none() => self.push_dynamic(c),
            _ => self.push(c),
        }
    }

    fn push_dynamic(&mut self, c: char) {
        self.push(c);
        self.word().is_dynamic = true;
    }

    fn single_quoted(&mut self, script: &mut Script) {
        self.word();
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => self.push(c),
                None => return script.is_unclear = true,
            }
        }
    }

    fn double_quoted(&mut self, script: &mut Script) {
        self.word();
        loop {
            match self.next() {
                Some('"') => return,
                Some('\\') => match self.next() {
                    Some('\n') => {}
                    Some(c @ ('$' | '`' | '"' | '\\')) => self.push(c),
                    Some(c) => self.word().text.extend(['\\', c]),
                    None => return script.is_unclear = true,
                },
                Some('$') => self.dollar(script),
                Some('`') => self.backquoted(script),
                Some(c) => self.push(c),
                None => return script.is_unclear = true,
            }
        }
    }

    /// Reads a dollar sign: a variable or a substitution.
    fn dollar(&mut self, script: &mut Script) {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let is_arithmetic = self.peek() == Some('(');
                let inner = self.balanced('(', ')', script);
                script.is_unclear |= is_arithmetic;
                script.read(&inner, self.depth + 1);
            }
            Some('{') => {
                self.at += 1;
                let inner = self.balanced('{', '}', script);
                script.is_unclear |= inner.contains(['(', '`', '\'', '"', '$', '\\', '@']);
            }
            // These have their own escapes and arithmetic.
            Some('\'' | '[') => script.is_unclear = true,
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?$!-\"".contains(c) => {}
            _ => return self.push('$'),
        }
        self.push_dynamic('$');
    }

    fn backquoted(&mut self, script: &mut Script) {
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                // A backslash escapes only these characters here.
                Some('\\') if matches!(self.peek(), Some('$' | '`' | '\\')) => inner.extend(self.next()),
                Some(c) => inner.push(c),
                None => {
                    script.is_unclear = true;
                    break;
                }
            }
        }
        // Shells differ in how they read quotes inside.
        script.is_unclear |= inner.contains(['"', '\'', '\\']);
        script.read(&inner, self.depth + 1);
        self.push_dynamic('`');
    }

    /// Returns the text up to the matching end. Comments and here-documents could hide the end, so they make the script
    /// unclear.
    fn balanced(&mut self, open: char, close: char, script: &mut Script) -> String {
        let start = self.at;
        let mut nested = 0;
        let mut quote = None;
        while let Some(c) = self.next() {
            match (quote, c) {
                (Some('\''), _) if c != '\'' => {}
                (_, '\\') => drop(self.next()),
                (Some(q), _) if c == q => quote = None,
                // A substitution inside quotes starts a new level of quoting.
                (Some(_), '$' | '`') => script.is_unclear = true,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(c),
                (None, '#' | '`') => script.is_unclear = true,
                (None, _) if c == open => nested += 1,
                (None, _) if c == close && nested == 0 => {
                    return self.text[start..self.at - 1].iter().collect();
                }
                (None, _) if c == close => nested -= 1,
                (None, _) => {}
            }
        }
        script.is_unclear = true;
        self.text[start..].iter().collect()
    }
}

/// Returns true if a redirection touches no file.
fn is_harmless(kind: Redirection, target: &Word) -> bool {
    let is_descriptor = || target.text == "-" || target.text.chars().all(|c| c.is_ascii_digit());
    !target.is_dynamic && (target.text == "/dev/null" || (kind == Redirection::Duplicate && is_descriptor()))
}
