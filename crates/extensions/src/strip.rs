//! From TypeScript to JavaScript: types go, enums and parameter properties are spelled out, places are remembered.
//!
//! The only file that knows the compiler. Never touches files; takes text and gives text.

use std::path::Path;

use oxc::allocator::Allocator;
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};

/// JavaScript, and where each of its places was in the TypeScript.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stripped {
    /// The JavaScript.
    pub(crate) code: String,
    /// The places.
    pub(crate) places: Places,
}

/// Where places of the JavaScript were in the TypeScript.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(Vec<(Place, Place)>);

/// A line and a column, both counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    /// The line.
    pub(crate) line: u32,
    /// The column.
    pub(crate) column: u32,
}

/// Why a text is no TypeScript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct SyntaxError {
    /// Where it goes wrong, if that is known.
    pub(crate) at: Option<Place>,
    /// What is wrong.
    pub(crate) message: String,
}

impl Places {
    /// Returns where a place of the JavaScript was in the TypeScript.
    pub(crate) fn original(&self, place: Place) -> Option<Place> {
        let after = self.0.partition_point(|(generated, _)| *generated <= place);
        let (generated, original) = self.0[..after].last().or_else(|| self.0.first())?;
        (generated.line == place.line).then_some(*original)
    }
}

/// Takes the types out of a text. `path` tells what it is: `.ts`, `.tsx`, `.mts` or `.js`.
pub(crate) fn strip(path: &Path, source: &str) -> Result<Stripped, SyntaxError> {
    let allocator = Allocator::default();
    let kind = SourceType::from_path(path).unwrap_or_else(|_| SourceType::ts()).with_module(true);
    let parsed = Parser::new(&allocator, source, kind).parse();
    refuse(parsed.diagnostics.errors().next(), source)?;
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    refuse(semantic.diagnostics.errors().next(), source)?;
    let scoping = semantic.semantic.into_scoping();
    let options = TransformOptions::default();
    let made = Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
    refuse(made.diagnostics.errors().next(), source)?;
    let options = CodegenOptions { source_map_path: Some(path.to_path_buf()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
    let places = tokens.map(|token| {
        let generated = Place { line: token.get_dst_line() + 1, column: token.get_dst_col() + 1 };
        (generated, Place { line: token.get_src_line() + 1, column: token.get_src_col() + 1 })
    });
    let places = Places(places.collect());
    Ok(Stripped { code: printed.code, places })
}

fn refuse(diagnostic: Option<&OxcDiagnostic>, source: &str) -> Result<(), SyntaxError> {
    let Some(diagnostic) = diagnostic else { return Ok(()) };
    let at = diagnostic.labels.first().map(|label| place_of(source, label.offset() as usize));
    Err(SyntaxError { at, message: diagnostic.message.to_string() })
}

/// Turns an offset in bytes into a line and a column.
fn place_of(source: &str, offset: usize) -> Place {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
    Place { line: u32::try_from(line).unwrap_or(u32::MAX), column: u32::try_from(column).unwrap_or(u32::MAX) }
}

#[cfg(test)]
mod tests;
