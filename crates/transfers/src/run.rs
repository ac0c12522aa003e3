//! Executes a list on memory of this process, in safe code.
//!
//! Each contiguous run is one `copy_from_slice`. A nest of many bytes is a copy of bytes by the library
//! instead, whose kernels do not read what they overwrite: runs of 512 bytes are 1.7 times as fast.

use tensor_layout::checked::Proven;
use tensor_layout::relayout::{Relayout, Settings};
use tensor_layout::{BufferTensorDesc, DataType, Error};

use super::list::{Transfer, Transfers};
use super::nest::{Loop, Nest};

/// The least bytes of a nest that are copied by a plan of its own.
const PLANNED: u64 = 1 << 20;

impl Transfers {
    /// Executes the list on memory of this process, such as mapped buffers. The result defines what a list
    /// means.
    ///
    /// # Errors
    ///
    /// `buffer_too_short`, before a byte is written.
    ///
    /// ```
    /// use tensor_layout::BufferTensorDesc;
    /// use tensor_layout_transfers::{TransferLimits, transfers};
    ///
    /// let (rows, columns): (BufferTensorDesc, BufferTensorDesc) = ("u8[2,3]:[3,1]".parse()?, "u8[2,3]:[1,2]".parse()?);
    /// let mut turned = [0; 6];
    /// transfers(&rows, &columns, &TransferLimits::any())?.run(b"abcdef", &mut turned)?;
    /// assert_eq!(&turned, b"adbecf");
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn run(&self, source: &[u8], destination: &mut [u8]) -> Result<(), Error> {
        let (reads, writes) = self.reach();
        for (what, needed, found) in [("source", reads, source.len()), ("destination", writes, destination.len())] {
            let found = u64::try_from(found).unwrap_or(u64::MAX);
            if found < needed {
                return Err(Error::buffer_too_short(what, needed, found));
            }
        }
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        if !self.is_in_bytes() {
            for Transfer { source: from, destination: to, bytes, loops } in self.iter() {
                copy((source, destination), (place(from), place(to)), place(bytes), loops);
            }
            return Ok(());
        }
        for nest in self.nests() {
            if nest.runs().saturating_mul(nest.run()) >= PLANNED {
                planned(nest)?.run(source, &mut *destination)?;
            } else {
                let start = (place(nest.source), place(nest.destination));
                copy((source, destination), start, place(nest.run()), nest.outer());
            }
        }
        Ok(())
    }
}

/// Plans the copy of a nest as a copy of bytes.
fn planned(nest: &Nest) -> Result<Relayout, Error> {
    let (sizes, mut strides): (Vec<u64>, [Vec<u64>; 2]) =
        (nest.loops.iter().map(|step| step.count).collect(), [vec![], vec![]]);
    let (mut source, mut reversed) = (nest.source, Vec::new());
    for (axis, step) in nest.loops.iter().enumerate() {
        if step.source_stride < 0 {
            // A layout begins at its lowest address.
            source = source.minus(step.count.minus(1).times(step.source_stride.unsigned_abs()));
            reversed.push(axis);
        }
        strides[0].push(step.source_stride.unsigned_abs());
        strides[1].push(step.destination_stride.unsigned_abs());
    }
    let side =
        |strides: &[u64], base| BufferTensorDesc::new(DataType::U8, &sizes, Some(strides))?.with_base_offset(base);
    let settings = Settings { reversed, ..Settings::default() };
    Relayout::with_settings(&side(&strides[0], source)?, &side(&strides[1], nest.destination)?, &settings)
}

fn copy((source, destination): (&[u8], &mut [u8]), (from, to): (usize, usize), bytes: usize, loops: &[Loop]) {
    // Every offset is below the reach of the list, which the buffers have.
    let stride = |stride: i64| isize::try_from(stride).unwrap_or(0);
    let Some((step, inner)) = loops.split_first() else {
        if let (Some(from), Some(to)) = (source.get(from..from.plus(bytes)), destination.get_mut(to..to.plus(bytes))) {
            to.copy_from_slice(from);
        }
        return;
    };
    let strides = (stride(step.source_stride), stride(step.destination_stride));
    let (mut from, mut to) = (from, to);
    for _ in 0..step.count {
        copy((source, destination), (from, to), bytes, inner);
        (from, to) = (from.wrapping_add_signed(strides.0), to.wrapping_add_signed(strides.1));
    }
}
