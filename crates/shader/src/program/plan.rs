//! `Program`: a relayout as dispatches of compute shaders.

use tensor_layout::Error;
use tensor_layout::relayout::Relayout;

use super::super::profile::Profile;
use super::form::{Form, ProgramOptions};
use super::pass::Pass;
use super::planner::Planner;
use super::special::Special;

/// A relayout as a GPU program: a list of passes to dispatch in order. Each pass is a WGSL compute shader
/// with its bindings.
///
/// The result is that of [`Relayout::run`], bit for bit: the same elements, the same padding, and no other
/// bit of the destination changed. A word that belongs to the destination in part is read, changed and
/// written by the one invocation that owns it. So two programs whose destinations share a word must not run
/// at the same time. As on the CPU, padding that is set ends with the size of the destination, which may be
/// above that of its elements: what is after their last byte becomes zero, and the bytes after the size
/// stay.
///
/// Both buffers hold 32-bit words, so their sizes are the layout's sizes rounded up to a multiple of 4 bytes.
///
/// ```
/// use tensor_layout::{relayout::Relayout, ArrayShape};
/// use tensor_layout_shader::{Profile, Program};
///
/// let (rows, tiles): (ArrayShape, ArrayShape) = ("bf16[30,200]{1,0}".parse()?, "bf16[30,200]{1,0:T(8,128)(2,1)}".parse()?);
/// let relayout = Relayout::new(&rows, &tiles)?;
/// let program = Program::new(&relayout, &Profile::webgpu())?;
/// for pass in program.passes() {
///     assert!(pass.wgsl().contains(pass.entry_point()));
///     assert_eq!(pass.workgroup_size(), [256, 1, 1]);
/// }
///
/// // What a device would do, done by an interpreter of the same program.
/// let source: Vec<u8> = (0..relayout.source_size_in_bytes()).map(|i| i as u8).collect();
/// let (mut on_device, mut on_cpu) = (vec![0; relayout.destination_size_in_bytes() as usize], vec![0; 16_384]);
/// program.interpret(&source, &mut on_device).unwrap();
/// relayout.run(&source, &mut on_cpu)?;
/// assert_eq!(on_device, on_cpu);
/// # Ok::<(), tensor_layout::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Program {
    pub(super) form: Form,
    pub(super) reason: String,
    pub(super) passes: Vec<Pass>,
    pub(super) source_bytes: u64,
    pub(super) destination_bytes: u64,
}

impl Program {
    /// Returns the program for a device with these limits, in the form that should be fastest. Both tensors
    /// begin at the start of their buffers.
    ///
    /// # Errors
    ///
    /// `overflow` if a pass of the general form must number more than 2^32 - 65 physical elements or
    /// words; `out_of_limits` if the limits of the profile on invocations, storage buffers or the size
    /// of a binding are too small.
    pub fn new(relayout: &Relayout, profile: &Profile) -> Result<Program, Error> {
        Program::with_options(relayout, profile, &ProgramOptions::default())
    }

    /// Returns the program in a form that the caller chooses, or for tensors with an offset in their buffers.
    ///
    /// # Errors
    ///
    /// The errors of [`new`](Self::new); `not_expressible`, with the reason, if the form does not
    /// apply to the pair of layouts; `offset_unaligned` for an offset that is not
    /// a multiple of 4.
    ///
    /// ```
    /// use tensor_layout::{relayout::Relayout, BufferTensorDesc};
    /// use tensor_layout_shader::{Form, Profile, Program, ProgramOptions};
    ///
    /// let (rows, columns) = ("f32[64,64]:[64,1]".parse::<BufferTensorDesc>()?, "f32[64,64]:[1,64]".parse::<BufferTensorDesc>()?);
    /// let relayout = Relayout::new(&rows, &columns)?;
    /// let options = ProgramOptions { form: Some(Form::General), destination_offset: 1028, ..Default::default() };
    /// let program = Program::with_options(&relayout, &Profile::webgpu(), &options)?;
    /// // The binding begins at a multiple of 256 bytes, and a uniform says that the tensor begins a word later.
    /// let bindings = program.passes()[0].bindings();
    /// assert_eq!(bindings[1].bytes, 1024..1028 + 16_384);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with_options(relayout: &Relayout, profile: &Profile, options: &ProgramOptions) -> Result<Program, Error> {
        let planner = Planner::new(relayout, profile, options)?;
        let (form, reason, passes) = match options.form {
            Some(Form::General) => (Form::General, "which was requested".to_owned(), planner.general()?),
            wanted => match (planner.special(wanted)?, wanted) {
                (Special::Fits(form, reason, passes), _) => (form, reason, passes),
                (Special::Unfit(reason), None) => (Form::General, format!("because {reason}"), planner.general()?),
                (Special::Unfit(reason), Some(form)) => {
                    return Err(Error::not_expressible(form.program_name(), reason));
                }
            },
        };
        let end = |ranges: &mut dyn Iterator<Item = u64>| ranges.max().unwrap_or(0);
        Ok(Program {
            form,
            reason,
            source_bytes: end(&mut passes.iter().filter_map(|pass| pass.source.as_ref()).map(|source| source.end)),
            destination_bytes: end(&mut passes.iter().map(|pass| pass.destination.end)),
            passes,
        })
    }

    /// The passes, to be dispatched in order. Each pass must see the writes of the passes before it.
    #[must_use]
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// The form of the program.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The least length of the source's buffer, in bytes: where the furthest binding ends, counted from the
    /// start of the buffer. It is a multiple of 4.
    #[must_use]
    pub fn source_size_in_bytes(&self) -> u64 {
        self.source_bytes
    }

    /// The least length of the destination's buffer, in bytes: where the furthest binding ends, counted from
    /// the start of the buffer. It is a multiple of 4.
    #[must_use]
    pub fn destination_size_in_bytes(&self) -> u64 {
        self.destination_bytes
    }

    /// Describes the program for people: its form, the reason for that form, and its passes. The wording may
    /// change.
    #[must_use]
    pub fn explain(&self) -> String {
        let mut text = format!("form: {}, {}\n", self.form, self.reason);
        for (place, pass) in self.passes.iter().enumerate() {
            let [x, y, z] = pass.workgroups;
            let number = place.saturating_add(1);
            let (of, to) = (pass.source.clone(), &pass.destination);
            let from = of.map_or_else(|| "padding".to_owned(), |of| format!("bytes {}..{}", of.start, of.end));
            text.push_str(&format!(
                "pass {number} of {}: {}, {x} x {y} x {z} workgroups of {}, {from} to bytes {}..{}\n",
                self.passes.len(),
                pass.form,
                pass.shader.shader.invocations(),
                to.start,
                to.end,
            ));
        }
        text
    }
}
