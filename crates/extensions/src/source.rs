//! Reads from the source of a function which properties it uses.
//!
//! Only the source of a handler distinguishes the older forms of the API from pi's: `handler: (ctx) => ctx.args` is an
//! older command, and a `session_tree` handler that reads `cancelled` expects cancelled navigations too.
//!
//! Takes the text of `Function.prototype.toString`. Never runs anything.

use std::collections::BTreeSet;

use oxc::allocator::Allocator;
use oxc::ast::ast::{
    BindingPattern, BindingProperty, ComputedMemberExpression, Expression, FormalParameters,
    StaticMemberExpression, VariableDeclarator,
};
use oxc::ast_visit::{Visit, walk};
use oxc::parser::Parser;
use oxc::span::SourceType;
use serde::Serialize;

/// The properties that a function uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FunctionUse {
    /// The number of its parameters, a rest parameter included.
    pub(crate) parameters: usize,
    /// The properties that it reads of its first parameter.
    pub(crate) of_first: BTreeSet<String>,
    /// The properties that it reads of anything. `signal.aborted` is not among them: signals have that property.
    pub(crate) of_any: BTreeSet<String>,
}

/// Reads which properties a function uses. Returns nothing for a function without readable source, such as a bound one.
pub(crate) fn function_use(source: &str) -> FunctionUse {
    // A method has no `function` keyword, and a private one is only allowed inside a class.
    let spellings = [format!("({source})"), format!("({{{source}}})"), format!("(class {{{source}}})")];
    spellings.iter().find_map(|text| use_in(text)).unwrap_or_default()
}

fn use_in(expression: &str) -> Option<FunctionUse> {
    let allocator = Allocator::default();
    let expression = Parser::new(&allocator, expression, SourceType::mjs()).parse_expression().ok()?;
    let mut reader = Reader::default();
    reader.visit_expression(&expression);
    reader.is_inside.then_some(reader.found)
}

/// Walks a function and collects what it uses.
#[derive(Debug, Default)]
struct Reader {
    /// True once the parameters of the outermost function were seen.
    is_inside: bool,
    /// The names of the first parameter: its own, and those of variables that it is assigned to.
    names_of_first: BTreeSet<String>,
    found: FunctionUse,
}

impl Reader {
    fn is_first(&self, expression: &Expression<'_>) -> bool {
        match expression.get_inner_expression() {
            Expression::Identifier(name) => self.names_of_first.contains(name.name.as_str()),
            _ => false,
        }
    }

    /// Notes that a property of a value is read.
    fn note(&mut self, object: &Expression<'_>, property: &str) {
        if self.is_first(object) {
            self.found.of_first.insert(property.to_owned());
        }
        if !is_signal(object) {
            self.found.of_any.insert(property.to_owned());
        }
    }

    /// Notes the properties that a pattern takes out of the first parameter, or the name that it gives it.
    fn note_first(&mut self, pattern: &BindingPattern<'_>) {
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                self.names_of_first.insert(name.name.as_str().to_owned());
            }
            BindingPattern::ObjectPattern(pattern) => {
                let keys = pattern.properties.iter().filter_map(|property| property.key.static_name());
                self.found.of_first.extend(keys.map(|key| key.into_owned()));
            }
            BindingPattern::AssignmentPattern(pattern) => self.note_first(&pattern.left),
            BindingPattern::ArrayPattern(_) => {}
        }
    }
}

impl<'a> Visit<'a> for Reader {
    fn visit_formal_parameters(&mut self, parameters: &FormalParameters<'a>) {
        if !self.is_inside {
            self.is_inside = true;
            self.found.parameters = parameters.items.len() + usize::from(parameters.rest.is_some());
            if let Some(first) = parameters.items.first() {
                self.note_first(&first.pattern);
            }
        }
        walk::walk_formal_parameters(self, parameters);
    }

    fn visit_variable_declarator(&mut self, declarator: &VariableDeclarator<'a>) {
        if declarator.init.as_ref().is_some_and(|init| self.is_first(init)) {
            self.note_first(&declarator.id);
        }
        walk::walk_variable_declarator(self, declarator);
    }

    fn visit_static_member_expression(&mut self, member: &StaticMemberExpression<'a>) {
        self.note(&member.object, member.property.name.as_str());
        walk::walk_static_member_expression(self, member);
    }

    fn visit_computed_member_expression(&mut self, member: &ComputedMemberExpression<'a>) {
        if let Expression::StringLiteral(key) = &member.expression {
            self.note(&member.object, key.value.as_str());
        }
        walk::walk_computed_member_expression(self, member);
    }

    fn visit_binding_property(&mut self, property: &BindingProperty<'a>) {
        self.found.of_any.extend(property.key.static_name().map(|key| key.into_owned()));
        walk::walk_binding_property(self, property);
    }
}

/// Returns true for `signal`, `event.signal` and the like.
fn is_signal(object: &Expression<'_>) -> bool {
    match object.get_inner_expression() {
        Expression::Identifier(name) => name.name.as_str() == "signal",
        Expression::StaticMemberExpression(member) => member.property.name.as_str() == "signal",
        Expression::ChainExpression(chain) => chain
            .expression
            .as_member_expression()
            .and_then(|member| member.static_property_name())
            .is_some_and(|name| name == "signal"),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
