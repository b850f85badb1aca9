//! The modules and names that a file uses, for the choice of an engine and for Node.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    Argument, CallExpression, ExportAllDeclaration, ExportFromDeclaration, Expression, ImportDeclaration,
    ImportDeclarationSpecifier, ImportExpression, ModuleExportName,
};
use oxc::ast_visit::{Visit, walk};

use super::{Places, Prepared, ScriptKind, prepared, printed};

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

/// Takes the types out of a text as [`strip`](super::strip) does, and collects what it uses. A text that is no module may
/// still be a CommonJS file, which has fewer rules.
pub(crate) fn compile(path: &Path, source: &str) -> Result<Compiled, String> {
    let allocator = Allocator::default();
    let prepared = prepared(&allocator, path, source, ScriptKind::Module)
        .or_else(|error| prepared(&allocator, path, source, ScriptKind::CommonJs).map_err(|_| error))?;
    let Prepared { program, has_module_syntax, globals } = prepared;
    let mut facts = Facts { has_module_syntax, globals, ..Facts::default() };
    facts.visit_program(&program);
    let (code, places) = printed(&program, path, 0);
    Ok(Compiled { code, places, facts })
}

impl Facts {
    /// Returns true for a file that is written as a CommonJS module.
    pub(crate) fn is_commonjs(&self) -> bool {
        !self.has_module_syntax
            && ["module", "exports", "require"].iter().any(|name| self.globals.contains(*name))
    }

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
        // A function made by `createRequire` has any name.
        if let Some(Argument::StringLiteral(source)) = call.arguments.first()
            && (call.callee.is_specific_id("require") || source.value.starts_with("node:"))
        {
            self.imports.insert(source.value.as_str().to_owned());
        }
        walk::walk_call_expression(self, call);
    }
}
