//! From TypeScript to JavaScript: types go, enums and parameter properties are spelled out, places are remembered.
//!
//! The only module that knows the compiler. Never touches files; takes text and gives text.

mod facts;

use std::collections::BTreeSet;
use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, BindingPattern, CallExpression, Declaration,
    Expression, ImportDeclarationSpecifier, ObjectExpression, ObjectPropertyKind, Program, Statement,
    StaticMemberExpression,
};
use oxc::ast_visit::{Visit, walk};
use oxc::codegen::{Codegen, CodegenOptions};
use oxc::diagnostics::OxcDiagnostic;
use oxc::parser::Parser;
use oxc::semantic::SemanticBuilder;
use oxc::span::SourceType;
use oxc::transformer::{TransformOptions, Transformer};

pub(crate) use facts::{Facts, compile};

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

/// The kind of a file of script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScriptKind {
    /// A file with `import` and `export`.
    Module,
    /// A file with `require` and `module.exports`.
    CommonJs,
}

/// The JavaScript of a file.
#[derive(Debug)]
pub(crate) struct Stripped {
    pub(crate) code: String,
    pub(crate) places: Places,
    /// True if a module uses `require`, which it has to be given.
    pub(crate) uses_require: bool,
}

/// The names that a module exports.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exports {
    pub(crate) names: BTreeSet<String>,
    /// The modules whose names it exports too: `export * from`.
    pub(crate) stars: Vec<String>,
}

/// Names that a CommonJS file has without importing them.
const OF_COMMONJS: [&str; 5] = ["require", "module", "exports", "__filename", "__dirname"];

/// Returns the kind of a file. `is_module_package` says whether its package declares `.js` files to be modules.
pub(crate) fn kind(path: &Path, source: &str, is_module_package: bool) -> ScriptKind {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "mjs" | "mts" => return ScriptKind::Module,
        "cjs" | "cts" => return ScriptKind::CommonJs,
        _ => {}
    }
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type(path, ScriptKind::Module)).parse();
    let record = &parsed.module_record;
    if record.has_module_syntax || !record.import_metas.is_empty() {
        return ScriptKind::Module;
    }
    let is_script = ending.starts_with('j') && !is_module_package;
    let is_broken = parsed.diagnostics.errors().next().is_some();
    let semantic = SemanticBuilder::new().build(&parsed.program).semantic;
    let undeclared = semantic.scoping().root_unresolved_references();
    if is_script || is_broken || OF_COMMONJS.into_iter().any(|name| undeclared.contains_key(name)) {
        ScriptKind::CommonJs
    } else {
        ScriptKind::Module
    }
}

fn source_type(path: &Path, kind: ScriptKind) -> SourceType {
    let from_ending = SourceType::from_path(path).unwrap_or_else(|_| SourceType::ts());
    match kind {
        ScriptKind::Module => from_ending.with_module(true),
        ScriptKind::CommonJs => from_ending.with_commonjs(true),
    }
}

/// A program without types.
struct Prepared<'a> {
    program: Program<'a>,
    /// True if it imports or exports anything.
    has_module_syntax: bool,
    /// The names that it uses as values without declaring them.
    globals: BTreeSet<String>,
}

fn prepared<'a>(
    allocator: &'a Allocator,
    path: &Path,
    source: &'a str,
    kind: ScriptKind,
) -> Result<Prepared<'a>, String> {
    let parsed = Parser::new(allocator, source, source_type(path, kind)).parse();
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
    let made = Transformer::new(allocator, path, &options).build_with_scoping(scoping, &mut program);
    refuse(made.diagnostics.errors().next(), path, source)?;
    Ok(Prepared { program, has_module_syntax, globals })
}

/// Takes the types out of a text. The ending of `path` decides which: `.ts`, `.tsx`, `.mts` or `.js`. An error begins with
/// its place in the file.
///
/// `lacks` is asked about each name that is imported from a module. A name that is missing there is undefined, as with
/// pi's loader, where the language has an error.
pub(crate) fn strip(
    path: &Path,
    source: &str,
    kind: ScriptKind,
    lacks: &mut dyn FnMut(&str, &str) -> bool,
) -> Result<Stripped, String> {
    let allocator = Allocator::default();
    let Prepared { mut program, globals, .. } = prepared(&allocator, path, source, kind)?;
    let (mut before, mut after) = (String::new(), String::new());
    if kind == ScriptKind::Module {
        after = without_missing(&mut program, lacks);
        for name in OF_COMMONJS.into_iter().filter(|name| globals.contains(*name)) {
            before.push_str(given_by_meta(name));
        }
    }
    let (code, places) = printed(&program, path, before.len());
    let code = if before.is_empty() && after.is_empty() { code } else { before + &code + &after };
    Ok(Stripped { code, places, uses_require: globals.contains("require") })
}

/// Prints a program, and returns the places of the text when so many bytes stand before it.
fn printed(program: &Program<'_>, path: &Path, before: usize) -> (String, Places) {
    let options = CodegenOptions { source_map_path: Some(path.to_path_buf()), ..CodegenOptions::default() };
    let printed = Codegen::new().with_options(options).build(program);
    let tokens = printed.map.iter().flat_map(|map| map.get_tokens());
    let shift = u32::try_from(before).unwrap_or_default();
    let places = tokens.map(|token| {
        let (line, column) = (token.get_dst_line() + 1, token.get_dst_col() + 1);
        let generated = Place { line, column: if line == 1 { column + shift } else { column } };
        (generated, Place { line: token.get_src_line() + 1, column: token.get_src_col() + 1 })
    });
    let places = Places(places.collect());
    (printed.code, places)
}

/// Returns the declaration that gives a module what CommonJS files have.
fn given_by_meta(name: &str) -> &'static str {
    match name {
        "require" => "const require = import.meta.require;",
        "__filename" => "const __filename = import.meta.filename;",
        "__dirname" => "const __dirname = import.meta.dirname;",
        "module" => "const module = { exports: {} };",
        _ => "const exports = {};",
    }
}

/// Takes imports of names that are missing out of a program. Returns the text that declares them as undefined.
fn without_missing(program: &mut Program<'_>, lacks: &mut dyn FnMut(&str, &str) -> bool) -> String {
    let mut text = String::new();
    for statement in &mut program.body {
        match statement {
            Statement::ImportDeclaration(import) => {
                let source = import.source.value.as_str();
                let Some(specifiers) = &mut import.specifiers else { continue };
                specifiers.retain(|specifier| {
                    let (name, local) = match specifier {
                        ImportDeclarationSpecifier::ImportSpecifier(one) => (one.imported.name(), &one.local),
                        ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                            ("default".into(), &one.local)
                        }
                        ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => return true,
                    };
                    let is_missing = lacks(source, name.as_str());
                    if is_missing {
                        text.push_str(&format!("\nvar {};", local.name));
                    }
                    !is_missing
                });
            }
            Statement::ExportFromDeclaration(export) => {
                let source = export.source.value.as_str();
                export.specifiers.retain(|one| {
                    let is_missing = lacks(source, one.local.name().as_str());
                    if is_missing {
                        let (local, name) =
                            (format!("$missing{}", one.span.start), json_text(&one.exported.name()));
                        text.push_str(&format!("\nvar {local}; export {{ {local} as {name} }};"));
                    }
                    !is_missing
                });
            }
            _ => {}
        }
    }
    text
}

/// Spells a text as JavaScript.
fn json_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Reads the names that a module exports.
pub(crate) fn exports(path: &Path, source: &str) -> Result<Exports, String> {
    let allocator = Allocator::default();
    let Prepared { program, .. } = prepared(&allocator, path, source, ScriptKind::Module)?;
    let mut exports = Exports::default();
    let names = &mut exports.names;
    for statement in &program.body {
        match statement {
            Statement::ExportDefaultDeclaration(_) => drop(names.insert("default".to_owned())),
            Statement::ExportNamedDeclaration(export) => {
                names.extend(export.specifiers.iter().map(|one| one.exported.name().to_string()));
            }
            Statement::ExportFromDeclaration(export) => {
                names.extend(export.specifiers.iter().map(|one| one.exported.name().to_string()));
            }
            Statement::ExportDeclaration(export) => match &export.declaration {
                Declaration::VariableDeclaration(variables) => {
                    variables.declarations.iter().for_each(|one| add_bound(&one.id, names));
                }
                Declaration::FunctionDeclaration(function) => {
                    names.extend(function.id.iter().map(|id| id.name.to_string()));
                }
                Declaration::ClassDeclaration(class) => {
                    names.extend(class.id.iter().map(|id| id.name.to_string()));
                }
                _ => {}
            },
            Statement::ExportAllDeclaration(export) => match &export.exported {
                Some(name) => drop(names.insert(name.name().to_string())),
                None => exports.stars.push(export.source.value.to_string()),
            },
            _ => {}
        }
    }
    Ok(exports)
}

/// Adds the names that a pattern declares.
fn add_bound(pattern: &BindingPattern<'_>, names: &mut BTreeSet<String>) {
    match pattern {
        BindingPattern::BindingIdentifier(name) => drop(names.insert(name.name.to_string())),
        BindingPattern::ObjectPattern(object) => {
            object.properties.iter().for_each(|one| add_bound(&one.value, names));
            object.rest.iter().for_each(|rest| add_bound(&rest.argument, names));
        }
        BindingPattern::ArrayPattern(array) => {
            array.elements.iter().flatten().for_each(|one| add_bound(one, names));
            array.rest.iter().for_each(|rest| add_bound(&rest.argument, names));
        }
        BindingPattern::AssignmentPattern(one) => add_bound(&one.left, names),
    }
}

/// Reads the names that a CommonJS file gives its `exports`, as far as its text shows them. The files that it exports as a
/// whole are its stars.
pub(crate) fn commonjs_exports(path: &Path, source: &str) -> Exports {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, source_type(path, ScriptKind::CommonJs)).parse();
    let mut reader = ExportsReader::default();
    reader.visit_program(&parsed.program);
    reader.0.names.remove("default");
    reader.0
}

/// Walks a CommonJS file and collects what it exports.
#[derive(Default)]
struct ExportsReader(Exports);

impl ExportsReader {
    fn add_keys(&mut self, object: &ObjectExpression<'_>) {
        for property in &object.properties {
            match property {
                ObjectPropertyKind::ObjectProperty(one) => {
                    self.0.names.extend(one.key.static_name().map(|name| name.into_owned()));
                }
                ObjectPropertyKind::SpreadProperty(one) => self.add_required(&one.argument),
            }
        }
    }

    /// Adds `require("…")` to the files that are exported as a whole.
    fn add_required(&mut self, value: &Expression<'_>) {
        if let Expression::CallExpression(call) = value
            && let Expression::Identifier(name) = &call.callee
            && name.name == "require"
            && let Some(Argument::StringLiteral(file)) = call.arguments.first()
        {
            self.0.stars.push(file.value.to_string());
        }
    }
}

/// Returns true for `exports` and `module.exports`.
fn is_exports(value: &Expression<'_>) -> bool {
    match value {
        Expression::Identifier(name) => name.name == "exports",
        Expression::StaticMemberExpression(member) => is_module_exports(member),
        _ => false,
    }
}

fn is_module_exports(member: &StaticMemberExpression<'_>) -> bool {
    member.property.name == "exports"
        && matches!(&member.object, Expression::Identifier(name) if name.name == "module")
}

impl<'a> Visit<'a> for ExportsReader {
    fn visit_assignment_expression(&mut self, assignment: &AssignmentExpression<'a>) {
        match &assignment.left {
            AssignmentTarget::StaticMemberExpression(member) if is_module_exports(member) => {
                match &assignment.right {
                    Expression::ObjectExpression(object) => self.add_keys(object),
                    value => self.add_required(value),
                }
            }
            AssignmentTarget::StaticMemberExpression(member) if is_exports(&member.object) => {
                self.0.names.insert(member.property.name.to_string());
            }
            AssignmentTarget::ComputedMemberExpression(member) if is_exports(&member.object) => {
                if let Expression::StringLiteral(name) = &member.expression {
                    self.0.names.insert(name.value.to_string());
                }
            }
            _ => {}
        }
        walk::walk_assignment_expression(self, assignment);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        let callee = match &call.callee {
            Expression::Identifier(name) => name.name.as_str(),
            Expression::StaticMemberExpression(member) => member.property.name.as_str(),
            _ => "",
        };
        let argument = |at: usize| call.arguments.get(at).and_then(Argument::as_expression);
        match (callee, argument(0), argument(1)) {
            // TypeScript and esbuild export with getters.
            ("defineProperty", Some(target), Some(Expression::StringLiteral(name))) if is_exports(target) => {
                self.0.names.insert(name.value.to_string());
            }
            ("__export", _, Some(Expression::ObjectExpression(names))) => self.add_keys(names),
            ("__exportStar" | "__reExport", ..) => {
                call.arguments
                    .iter()
                    .filter_map(Argument::as_expression)
                    .for_each(|value| self.add_required(value));
            }
            _ => {}
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
