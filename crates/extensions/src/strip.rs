//! From TypeScript to JavaScript: types go, enums and parameter properties are spelled out, places are remembered.
//!
//! The only file that knows the compiler. Never touches files; takes text and gives text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    Argument, CallExpression, ExportAllDeclaration, ExportFromDeclaration, Expression, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, ModuleExportName,
};
use oxc::ast_visit::{Visit, walk};
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
    compile(path, source).map(|compiled| (compiled.code, compiled.places))
}

/// A file without types, and what it uses.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) code: String,
    pub(crate) places: Places,
    pub(crate) facts: Facts,
}

/// The modules and names that a file uses, without those that only its types use.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// True if it imports or exports anything.
    pub(crate) has_module_syntax: bool,
    /// The modules that it imports or requires under names that are spelled out.
    pub(crate) imports: BTreeSet<String>,
    /// The names that it imports from them.
    pub(crate) named: BTreeMap<String, Vec<String>>,
    /// The names that it uses and does not declare.
    pub(crate) globals: BTreeSet<String>,
}

impl Facts {
    /// Returns true for a file that is written as a CommonJS module.
    pub(crate) fn is_commonjs(&self) -> bool {
        !self.has_module_syntax
            && ["module", "exports", "require"].iter().any(|name| self.globals.contains(*name))
    }
}

/// Takes the types out of a text as [`strip`] does, and collects what it uses.
pub(crate) fn compile(path: &Path, source: &str) -> Result<Compiled, String> {
    let allocator = Allocator::default();
    let kind = SourceType::from_path(path).unwrap_or_else(|_| SourceType::ts()).with_module(true);
    let parsed = Parser::new(&allocator, source, kind).parse();
    refuse(parsed.diagnostics.errors().next(), path, source)?;
    let has_module_syntax = parsed.module_record.has_module_syntax;
    let mut program = parsed.program;
    let semantic = SemanticBuilder::new().with_excess_capacity(2.0).with_enum_eval(true).build(&program);
    refuse(semantic.diagnostics.errors().next(), path, source)?;
    let scoping = semantic.semantic.into_scoping();
    let unresolved = scoping.root_unresolved_references().iter();
    let used_as_values =
        unresolved.filter(|(_, ids)| ids.iter().any(|id| scoping.get_reference(*id).is_value()));
    let globals = used_as_values.map(|(name, _)| name.as_str().to_owned()).collect();
    let options = TransformOptions::default();
    let made = Transformer::new(&allocator, path, &options).build_with_scoping(scoping, &mut program);
    refuse(made.diagnostics.errors().next(), path, source)?;
    let mut facts = Facts { has_module_syntax, globals, ..Facts::default() };
    facts.visit_program(&program);
    let options = CodegenOptions { source_map_path: Some(path.to_path_buf()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(&program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
    let places = tokens.map(|token| {
        let generated = Place { line: token.get_dst_line() + 1, column: token.get_dst_col() + 1 };
        (generated, Place { line: token.get_src_line() + 1, column: token.get_src_col() + 1 })
    });
    Ok(Compiled { code: printed.code, places: Places(places.collect()), facts })
}

/// Returns the names that a module exports.
pub(crate) fn exported_names(source: &str) -> BTreeSet<String> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
    parsed.module_record.exported_bindings.keys().map(|name| name.as_str().to_owned()).collect()
}

impl Facts {
    fn name(&mut self, module: &str, name: &ModuleExportName<'_>) {
        self.named.entry(module.to_owned()).or_default().push(name.name().as_str().to_owned());
    }
}

impl<'a> Visit<'a> for Facts {
    fn visit_import_declaration(&mut self, import: &ImportDeclaration<'a>) {
        let module = import.source.value.as_str();
        self.imports.insert(module.to_owned());
        let specifiers = import.specifiers.iter().flatten();
        for specifier in specifiers {
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => self.name(module, &one.imported),
                ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => {
                    self.named.entry(module.to_owned()).or_default().push("default".to_owned());
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => {}
            }
        }
    }

    fn visit_export_from_declaration(&mut self, export: &ExportFromDeclaration<'a>) {
        let module = export.source.value.as_str();
        self.imports.insert(module.to_owned());
        export.specifiers.iter().for_each(|one| self.name(module, &one.local));
    }

    fn visit_export_all_declaration(&mut self, export: &ExportAllDeclaration<'a>) {
        self.imports.insert(export.source.value.as_str().to_owned());
    }

    fn visit_import_expression(&mut self, import: &ImportExpression<'a>) {
        if let Expression::StringLiteral(source) = &import.source {
            self.imports.insert(source.value.as_str().to_owned());
        }
        walk::walk_import_expression(self, import);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        if call.callee.is_specific_id("require")
            && let Some(Argument::StringLiteral(source)) = call.arguments.first()
        {
            self.imports.insert(source.value.as_str().to_owned());
        }
        walk::walk_call_expression(self, call);
    }
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
