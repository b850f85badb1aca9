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

/// The places of the JavaScript in the TypeScript.
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

impl Places {
    /// Returns where a place of the JavaScript was in the TypeScript.
    pub(crate) fn original(&self, place: Place) -> Option<Place> {
        let after = self.0.partition_point(|(generated, _)| *generated <= place);
        let (generated, original) = self.0[..after].last().or_else(|| self.0.first())?;
        (generated.line == place.line).then_some(*original)
    }
}

/// Takes the types out of a text: returns the JavaScript and its places. The ending of `path` decides: `.ts`, `.tsx`, `.mts`
/// or `.js`. An error begins with its place in the file.
pub(crate) fn strip(path: &Path, source: &str) -> Result<(String, Places), String> {
    let allocator = Allocator::default();
    let kind = SourceType::from_path(path).unwrap_or_else(|_| SourceType::ts()).with_module(true);
    let parsed = Parser::new(&allocator, source, kind).parse();
    refuse(parsed.diagnostics.errors().next(), path, source)?;
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    refuse(semantic.diagnostics.errors().next(), path, source)?;
    let scoping = semantic.semantic.into_scoping();
    let options = TransformOptions::default();
    let made = Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
    refuse(made.diagnostics.errors().next(), path, source)?;
    let options = CodegenOptions { source_map_path: Some(path.to_path_buf()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
    let places = tokens.map(|token| {
        let generated = Place { line: token.get_dst_line() + 1, column: token.get_dst_col() + 1 };
        (generated, Place { line: token.get_src_line() + 1, column: token.get_src_col() + 1 })
    });
    Ok((printed.code, Places(places.collect())))
}

fn refuse(diagnostic: Option<&OxcDiagnostic>, path: &Path, source: &str) -> Result<(), String> {
    let Some(diagnostic) = diagnostic else { return Ok(()) };
    let at = diagnostic.labels.first().map(|label| place_of(source, label.offset() as usize));
    let at = at.map(|at| format!(":{}:{}", at.line, at.column)).unwrap_or_default();
    Err(format!("{}{at}: {}", path.display(), diagnostic.message))
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
