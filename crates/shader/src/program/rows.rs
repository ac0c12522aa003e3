//! The forms `linear` and `rows`: runs of whole words, each copied by one invocation, four at once where
//! everything allows it. The same code without a source fills boxes of padding.

use super::super::code::{Access, ComputeShader};
use super::grid::{Grid, MOST_BASE, digits, moved};
use super::strided_box::StridedLoop;

/// What is put into the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Words of the source.
    Source,
    /// One word, again and again.
    Word(u32),
}

/// The shader for boxes with these loops, in words, or in groups of four if `wide`. Its uniforms: workgroups
/// along x and y, how many words (or groups of four) there are, and where the first is in the bindings.
pub(super) fn shader(steps: &[StridedLoop], wide: bool, content: Content, invocations: u32) -> ComputeShader {
    let mut shader = ComputeShader::new("relayout", [invocations, 1, 1]);
    let mut buffer = |name, access| if wide { shader.wide_buffer(name, access) } else { shader.buffer(name, access) };
    let source = (content == Content::Source).then(|| buffer("source", Access::Read));
    let destination = buffer("destination", Access::ReadWrite);
    let grid = Grid::new(&mut shader);
    let count = shader.uniform(if wide { "fours" } else { "words" }, u32::MAX);
    let destination_base = shader.uniform("destination_base", MOST_BASE);
    let source_base = source.as_ref().map(|_| shader.uniform("source_base", MOST_BASE));
    let mut code = shader.code();
    let group = grid.group(&shader, &mut code);
    let own = code.bind("own", group * invocations + shader.local_invocation_index());
    code.when(own.less(&count), |code| {
        let digits = digits(code, own, steps);
        let to = code.bind("to", moved(destination_base, &digits, steps, |step| step.destination));
        match (&source, source_base, content) {
            (Some(source), Some(base), _) => {
                let from = code.bind("from", moved(base, &digits, steps, |step| step.source));
                code.store(&destination, to, source.at(from));
            }
            (_, _, Content::Word(word)) => code.store(&destination, to, word),
            _ => {}
        }
    });
    shader.with_body(code)
}
