//! The name of what was called in vain: the engine says only `not a function`, and where.
//!
//! The place that it gives is one behind the opening bracket, often the last variable among the arguments.

use std::path::Path;

use oxc::allocator::Allocator;
use oxc::ast::ast::{CallExpression, Expression, FunctionBody, NewExpression};
use oxc::ast_visit::{Visit, walk};
use oxc::parser::Parser;
use oxc::span::{GetSpan as _, SourceType, Span};

use crate::strip::Place;

/// The longest expression that is shown.
const LONGEST: usize = 80;

/// Names the value at a place of a file that was called and is no function: `` `ctx.ui.tell` is not a function``.
pub(crate) fn not_a_function(path: &Path, source: &str, place: Place) -> Option<String> {
    let at = offset(source, place)?;
    let allocator = Allocator::default();
    let kind = SourceType::from_path(path).unwrap_or_else(|_| SourceType::ts());
    let program = Parser::new(&allocator, source, kind).parse().program;
    let mut finder = Finder { at, calls: Vec::new() };
    finder.visit_program(&program);
    let is_exact = finder.calls.iter().any(|call| call.is_exact);
    let mut names = Vec::new();
    let mut kind = "function";
    for call in finder.calls.iter().filter(|call| call.is_exact == is_exact) {
        let text = source.get(call.callee.start as usize..call.callee.end as usize)?;
        if text.len() > LONGEST || text.contains('\n') {
            return None;
        }
        names.push(format!("`{text}`"));
        kind = call.kind;
    }
    let (last, others) = names.split_last()?;
    if others.is_empty() {
        return Some(format!("{last} is not a {kind}"));
    }
    // The place is the same for a call and for one among its arguments.
    Some(format!("{} or {last} is not a function", others.join(", ")))
}

fn offset(source: &str, place: Place) -> Option<u32> {
    let line = source.split_inclusive('\n').nth(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
    let before = line.as_ptr() as usize - source.as_ptr() as usize;
    let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
    let inside = line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
    u32::try_from(before + inside).ok()
}

struct Call {
    callee: Span,
    kind: &'static str,
    /// True if the place is behind the name that is called; otherwise it may belong to an earlier part of the expression.
    is_exact: bool,
}

/// Collects the calls around a place, those of the innermost function alone.
struct Finder {
    at: u32,
    calls: Vec<Call>,
}

impl Finder {
    fn add(&mut self, span: Span, callee: &Expression<'_>, kind: &'static str) {
        if span.start > self.at || span.end <= self.at {
            return;
        }
        let name = match callee {
            Expression::StaticMemberExpression(member) => member.property.span.start,
            Expression::ComputedMemberExpression(member) => member.expression.span().start,
            other => other.span().start,
        };
        self.calls.push(Call { callee: callee.span(), kind, is_exact: self.at >= name });
    }
}

impl<'a> Visit<'a> for Finder {
    fn visit_function_body(&mut self, body: &FunctionBody<'a>) {
        if body.span.start <= self.at && self.at < body.span.end {
            self.calls.clear();
            walk::walk_function_body(self, body);
        }
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        self.add(call.span, &call.callee, "function");
        walk::walk_call_expression(self, call);
    }

    fn visit_new_expression(&mut self, new: &NewExpression<'a>) {
        self.add(new.span, &new.callee, "constructor");
        walk::walk_new_expression(self, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(source: &str, column: u32) -> Option<String> {
        not_a_function(Path::new("a.ts"), source, Place { line: 1, column })
    }

    #[test]
    fn a_call_is_named_by_a_place_among_its_arguments() {
        assert_eq!(named("a.b.c(d, 1)", 7).as_deref(), Some("`a.b.c` is not a function"));
        assert_eq!(named("a(1)", 1).as_deref(), Some("`a` is not a function"));
        assert_eq!(named("new A.B()", 5).as_deref(), Some("`A.B` is not a constructor"));
        assert_eq!(named("a.b(c).d(e)", 10).as_deref(), Some("`a.b(c).d` is not a function"));
        assert_eq!(named("a.b(c).d(e)", 5).as_deref(), Some("`a.b` is not a function"));
        assert_eq!(named("a(b(c))", 5).as_deref(), Some("`a` or `b` is not a function"));
        assert_eq!(named("on('x', () => { f(1) })", 19).as_deref(), Some("`f` is not a function"));
        assert_eq!(named("const a = 1", 3), None);
        assert_eq!(named("a()", 99), None);
    }
}
