//! Where the mutants of a file are in its syntax.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::list::Genre;

/// Mutants by the byte where they begin and their kind: number and replacement.
pub type ByPlace = BTreeMap<(usize, Genre), Vec<(usize, String)>>;

/// A part of the text that is to be written in another way.
pub struct Node {
    pub bytes: Range<usize>,
    pub kind: Kind,
}

pub enum Kind {
    /// `left op right` with other operators.
    Operator { left: Range<usize>, right: Range<usize>, operator: String, others: Vec<(usize, String)> },
    /// `left && right` or `left || right`, and the other one.
    Logic { left: Range<usize>, right: Range<usize>, and: bool, mutant: usize },
    /// `left op= right` with other operators.
    Assignment { left: Range<usize>, right: Range<usize>, operator: String, others: Vec<(usize, String)> },
    /// An operator that is left out.
    Unary { operand: Range<usize>, operator: String, mutant: usize },
    /// The guard of an arm: the arm left out, the guard true, or false.
    Guard { without: Option<usize>, is_true: Option<usize>, is_false: Option<usize> },
    /// Behind the pattern of an arm without a guard: the arm left out.
    Arm { mutant: usize },
    /// The value of a field that is left to the base behind `..`.
    Field { mutant: usize, name: String, short: bool, base: String, base_type: Option<String> },
    /// In front of the statements of a function: other values that it returns.
    Returns { values: Vec<(usize, String)> },
}

impl Kind {
    /// Is nothing replaced, only something put in?
    pub fn is_insertion(&self) -> bool {
        matches!(self, Kind::Arm { .. } | Kind::Returns { .. })
    }
}

pub struct Places<'a> {
    text: &'a str,
    mutants: &'a ByPlace,
    /// In the order of the syntax, outer ones first.
    pub nodes: Vec<Node>,
    pub found: HashSet<usize>,
    /// How deep in constants, whose values cannot depend on a switch.
    constants: usize,
}

fn bytes(of: &impl Spanned) -> Range<usize> {
    of.span().byte_range()
}

fn has_let(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

impl<'a> Places<'a> {
    pub fn of(text: &'a str, mutants: &'a ByPlace) -> syn::Result<Places<'a>> {
        let file = syn::parse_file(text)?;
        let mut places = Places { text, mutants, nodes: Vec::new(), found: HashSet::new(), constants: 0 };
        places.visit_file(&file);
        Ok(places)
    }

    fn at(&self, start: usize, genre: Genre) -> Vec<(usize, String)> {
        let there = self.mutants.get(&(start, genre)).filter(|_| self.constants == 0);
        there.cloned().unwrap_or_default()
    }

    fn first(&self, start: usize, genre: Genre) -> Option<usize> {
        self.at(start, genre).first().map(|&(mutant, _)| mutant)
    }

    fn push(&mut self, bytes: Range<usize>, mutants: impl IntoIterator<Item = usize>, kind: Kind) {
        self.found.extend(mutants);
        self.nodes.push(Node { bytes, kind });
    }

    fn body(&mut self, block: &syn::Block) {
        let Some(first) = block.stmts.first() else { return };
        let start = bytes(first).start;
        let values = self.at(start, Genre::FnValue);
        if !values.is_empty() {
            self.push(start..start, values.clone().into_iter().map(|value| value.0), Kind::Returns { values });
        }
    }

    fn in_constant(&mut self, visit: impl FnOnce(&mut Self)) {
        self.constants += 1;
        visit(self);
        self.constants -= 1;
    }
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        let constants = std::mem::take(&mut self.constants);
        self.body(&function.block);
        visit::visit_item_fn(self, function);
        self.constants = constants;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let constants = std::mem::take(&mut self.constants);
        self.body(&function.block);
        visit::visit_impl_item_fn(self, function);
        self.constants = constants;
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.body(block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.in_constant(|places| visit::visit_item_const(places, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.in_constant(|places| visit::visit_item_static(places, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.in_constant(|places| visit::visit_impl_item_const(places, item));
    }

    fn visit_type(&mut self, item: &'ast syn::Type) {
        self.in_constant(|places| visit::visit_type(places, item));
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        let operator = bytes(&binary.op);
        let others = self.at(operator.start, Genre::BinaryOperator);
        let operator = self.text[operator].to_owned();
        let (left, right) = (bytes(&*binary.left), bytes(&*binary.right));
        // A condition with `let` is no expression of its own.
        let is_chain = has_let(&binary.left) || has_let(&binary.right);
        if let Some(&(mutant, _)) = others.first().filter(|_| !is_chain) {
            let mutants: Vec<usize> = others.iter().map(|other| other.0).collect();
            let whole = left.start..right.end;
            let kind = match operator.as_str() {
                "&&" | "||" => Kind::Logic { left, right, and: operator == "&&", mutant },
                "==" | "!=" | "<=" | ">=" => Kind::Operator { left, right, operator, others },
                assignment if assignment.ends_with('=') => Kind::Assignment { left, right, operator, others },
                _ => Kind::Operator { left, right, operator, others },
            };
            self.push(whole, mutants, kind);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        let (operator, operand) = (bytes(&unary.op), bytes(&*unary.expr));
        if let Some(mutant) = self.first(operator.start, Genre::UnaryOperator) {
            let text = self.text[operator.clone()].to_owned();
            self.push(operator.start..operand.end, [mutant], Kind::Unary { operand, operator: text, mutant });
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let without = self.first(bytes(arm).start, Genre::MatchArm);
        if let Some((_, guard)) = &arm.guard {
            let guard = bytes(&**guard);
            let mutants = self.at(guard.start, Genre::MatchArmGuard);
            let of = |value: &str| mutants.iter().find(|mutant| mutant.1 == value).map(|mutant| mutant.0);
            let (is_true, is_false) = (of("true"), of("false"));
            let all: Vec<usize> = [without, is_true, is_false].into_iter().flatten().collect();
            if !all.is_empty() {
                self.push(guard, all, Kind::Guard { without, is_true, is_false });
            }
        } else if let Some(mutant) = without {
            let end = bytes(&arm.pat).end;
            self.push(end..end, [mutant], Kind::Arm { mutant });
        }
        visit::visit_arm(self, arm);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        for field in &literal.fields {
            let Some(rest) = &literal.rest else { break };
            let Some(mutant) = self.first(bytes(field).start, Genre::StructField) else { continue };
            let name = match &field.member {
                syn::Member::Named(name) => name.to_string(),
                syn::Member::Unnamed(index) => index.index.to_string(),
            };
            let base = self.text[bytes(&**rest)].to_owned();
            // Of a call such as `Default::default()` the type has to be said.
            let base_type = base.ends_with(')').then(|| self.text[bytes(&literal.path)].to_owned());
            let short = field.colon_token.is_none();
            self.push(bytes(&field.expr), [mutant], Kind::Field { mutant, name, short, base, base_type });
        }
        visit::visit_expr_struct(self, literal);
    }
}
