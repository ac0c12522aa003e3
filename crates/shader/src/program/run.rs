//! Runs a program on the CPU, with the checks that a device does not make.

use std::fmt;

use super::super::code::{AccessCount, Counter, count_accesses, dispatch};
use super::pass::BoundBuffer;
use super::plan::Program;

/// An error that a device ignores silently: a read or write outside a binding, arithmetic that wraps round,
/// or a race of two invocations for one word. No program of this crate has such an error. Its tests check
/// that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShaderFault {
    pass: usize,
    sentence: String,
}

impl ShaderFault {
    /// The index of the pass that has the error, counted from 0.
    #[must_use]
    pub fn pass(&self) -> usize {
        self.pass
    }
}

impl fmt::Display for ShaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pass {}: {}", self.pass, self.sentence)
    }
}

impl std::error::Error for ShaderFault {}

impl Program {
    /// Runs the passes on the CPU. The interpreter runs the statements that [`wgsl`](super::Pass::wgsl)
    /// prints, for every invocation of every workgroup, and checks accesses against the length of each
    /// binding. It is slow and meant for tests. `source` and `destination` are whole buffers. A last word
    /// that is incomplete is read as if zeros followed.
    ///
    /// # Errors
    ///
    /// [`ShaderFault`] for an error that a device ignores silently, and for a buffer that is too short.
    pub fn interpret(&self, source: &[u8], destination: &mut [u8]) -> Result<(), ShaderFault> {
        let from = words(source);
        let mut to = words(destination);
        for (place, pass) in self.passes().iter().enumerate() {
            let fault = |sentence: String| ShaderFault { pass: place, sentence };
            let mut bound = Vec::new();
            for window in pass.bindings() {
                let buffer = match window.buffer {
                    BoundBuffer::Source => &from,
                    BoundBuffer::Destination => &to,
                    BoundBuffer::Uniforms => continue,
                };
                let range = window.bytes.start.div_euclid(4)..window.bytes.end.div_euclid(4);
                let range = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
                let part = range.and_then(|(start, end)| buffer.get(start..end));
                let too_short = || {
                    fault(format!(
                        "bytes {:?} of {:?} are bound, and it has {} words",
                        window.bytes,
                        window.buffer,
                        buffer.len()
                    ))
                };
                bound.push(part.ok_or_else(too_short)?.to_vec());
            }
            dispatch(&pass.shader.shader, pass.workgroups, &pass.uniforms, &mut bound)
                .map_err(|f| fault(f.to_string()))?;
            let start = usize::try_from(pass.destination.start.div_euclid(4)).unwrap_or(usize::MAX);
            let written = bound.pop().unwrap_or_default();
            if let Some(part) = to.get_mut(start..start.saturating_add(written.len())) {
                part.copy_from_slice(&written);
            }
        }
        for (bytes, word) in destination.chunks_mut(4).zip(to) {
            for (byte, new) in bytes.iter_mut().zip(word.to_le_bytes()) {
                *byte = new;
            }
        }
        Ok(())
    }

    /// Counts the memory transactions of the loads and stores of warps over all passes. The statements run
    /// without buffers. Each pass runs at most `workgroups` of its workgroups, at even distances over the
    /// dispatch.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, ArrayShape};
    /// use tensor_layout_shader::{Profile, Program};
    ///
    /// let (rows, columns): (ArrayShape, ArrayShape) = ("f32[512,512]{1,0}".parse()?, "f32[512,512]{0,1}".parse()?);
    /// let program = Program::new(&Relayout::new(&rows, &columns)?, &Profile::webgpu())?;
    /// let count = program.count_accesses(4).unwrap();
    /// assert_eq!((count.source.ratio(), count.destination.ratio()), (1.0, 1.0));
    /// assert!(count.bank <= 2);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`interpret`](Self::interpret).
    pub fn count_accesses(&self, workgroups: u64) -> Result<AccessCount, ShaderFault> {
        let mut all = AccessCount::default();
        for (place, pass) in self.passes().iter().enumerate() {
            let (mut words, mut buffers) = (Vec::new(), Vec::new());
            for window in pass.bindings() {
                if window.buffer == BoundBuffer::Uniforms {
                    continue;
                }
                let length = window.bytes.end.saturating_sub(window.bytes.start).div_euclid(4);
                words.push(usize::try_from(length).unwrap_or(usize::MAX));
                buffers.push((window.bytes.start.div_euclid(4), window.buffer == BoundBuffer::Source));
            }
            let counter = Counter::new(buffers);
            let uniforms = &pass.uniforms;
            let count = count_accesses(&pass.shader.shader, pass.workgroups, uniforms, &words, counter, workgroups);
            all.and(&count.map_err(|fault| ShaderFault { pass: place, sentence: fault.to_string() })?);
        }
        Ok(all)
    }
}

/// Converts bytes to little endian words. The last word is filled up with zeros.
fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 4];
        word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
        u32::from_le_bytes(word)
    };
    bytes.chunks(4).map(word).collect()
}
