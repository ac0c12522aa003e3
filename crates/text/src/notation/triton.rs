//! Triton's layouts of shared memory: `swizzled_shared`, `nvmma_shared`, `padded_shared`, `shared_linear`, as
//! modules and as Gluon print them.
//!
//! Triton describes shared memory as a linear layout over bits: the index at an offset is the XOR of one
//! basis for each bit of the offset that is set. All sizes are powers of two. The other encodings are rules
//! for such bases (`swizzledSharedToLinearLayout`, `nvmmaSharedToLinearLayout` in
//! LinearLayoutConversions.cpp).
//!
//! An index map goes the other way, from index to offset. Each basis must therefore set one bit of an index
//! that no basis of a lower bit sets: that bit of the index has the offset's bit as its place. The other bits
//! of the basis belong to lower bits of the offset, which the offset's bit flips: a swizzle.
//!
//! ```text
//! offset bit  basis (row, column)
//! 0, 1, 2     (0,1) (0,2) (0,4)      f16[4,8] without the flips: columns, then rows
//! 3           (1,2)                  row 1 begins at 8, and flips the bit of column 2
//! 4           (2,4)                  row 2 begins at 16, and flips the bit of column 4
//! ```
//!
//! `padded_shared` adds some elements of padding after every group of a given length, once the bases are
//! applied. The padding adds to the strides.
//!
//! A tensor may have one axis more than its encoding: the buffers of a pipeline, which follow each other.

use tensor_layout::Error;
use tensor_layout::checked::{self, OFFSET};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::DataType;
use tensor_layout::map::{IndexMap, Swizzle};

use super::no_layout::{refuse_without_layout, without_alias};
use super::types::element_type;
use crate::numbers::{list, tuple};
use crate::swizzle::mask;

/// The bits of an index that one bit of an offset sets, one number for each axis.
type Basis = Vec<u64>;

fn refused(reason: String) -> Error {
    Error::not_expressible("layout of shared memory", reason)
}

/// Reads the rest of `!ttg.memdesc<16x32xf16, #ttg.swizzled_shared<{..}>, #ttg.shared_memory, mutable>`.
pub(super) fn read_memdesc(cursor: &mut Cursor<'_>) -> Result<IndexMap, Error> {
    let mut sizes = Vec::new();
    while cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
        sizes.push(cursor.number("a size")?);
        cursor.expect("x", "`x` after a size")?;
    }
    let (at, word) = (cursor.position(), cursor.word());
    let data_type = element_type(word).ok_or_else(|| cursor.error_at(at, "a type such as f16 or i8"))?;
    cursor.expect(",", "`,` and an encoding of shared memory")?;
    let map = read(cursor, data_type, &sizes)?;
    cursor.expect(",", "`,` and a memory space")?;
    if !["#ttg.shared_memory", "#smem"].iter().any(|space| cursor.eat(space)) {
        return Err(cursor.error("#ttg.shared_memory or its alias #smem"));
    }
    cursor.eat(", mutable");
    if cursor.eat(",") {
        let (at, text) = (cursor.position(), cursor.rest());
        let whole: Vec<String> = sizes.iter().map(u64::to_string).collect();
        let allocated = text.split('>').next().unwrap_or_default();
        if allocated != whole.join("x") {
            return Err(cursor.error_at(at, "no other sizes: the layout is that of a part of a larger allocation"));
        }
        cursor.move_to(at.saturating_add(allocated.len()));
    }
    cursor.expect(">", "`>`")?;
    Ok(map)
}

/// The encodings by their names in a module and in Gluon, and their fields, `own|gluon` where the names
/// differ. A name that is no word is never read.
#[rustfmt::skip]
const ENCODINGS: [(&str, &str, &str); 4] = [
    ("#ttg.swizzled_shared<", "SwizzledSharedLayout(", "vec perPhase|per_phase maxPhase|max_phase order CGALayout|cga_layout"),
    ("#ttg.nvmma_shared<", "NVMMASharedLayout(", "swizzlingByteWidth|swizzle_byte_width transposed elementBitWidth|element_bitwidth \
      fp4Padded|fp4_padded rank CGALayout|cga_layout"),
    ("#ttg.padded_shared<", "PaddedSharedLayout(", "[..]|interval_padding_pairs order|- shape offset|offset_bases block|cga_layout"),
    ("#ttg.shared_linear<", "SharedLinearLayout(", "offset|offset_bases block|block_bases -|alignment"),
];

/// Whether a text is an encoding of shared memory, which needs a type and sizes in front.
pub(super) fn is_shared(text: &str) -> bool {
    let text = without_alias(text);
    ENCODINGS.iter().any(|(own, gluon, _)| text.starts_with(own) || text.starts_with(gluon))
}

/// Reads an encoding of shared memory, also where a module defines an alias for it.
pub(super) fn read(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<IndexMap, Error> {
    let rest = cursor.rest();
    refuse_without_layout(rest)?;
    let alias = rest.len().saturating_sub(without_alias(rest).len());
    let at = cursor.position().saturating_add(alias);
    cursor.move_to(at);
    let is_gluon = !cursor.rest().starts_with('#');
    let Some((name, _, keys)) = ENCODINGS.iter().find(|(own, gluon, _)| cursor.eat(own) || cursor.eat(gluon)) else {
        let expected = "#ttg.swizzled_shared, #ttg.nvmma_shared, #ttg.padded_shared or #ttg.shared_linear (an alias \
                        such as #shared stands for one of them)";
        return Err(cursor.error_at(at, expected));
    };
    let mut padding = Vec::new();
    if *name == "#ttg.padded_shared<" && !is_gluon {
        cursor.expect("[", "`[` and intervals with their padding, such as 64:+8")?;
        padding = cursor.list("]", |cursor| {
            let interval = cursor.number("the elements of an interval")?;
            cursor.expect(":", "`:+` and the elements of padding")?;
            cursor.expect("+", "`:+` and the elements of padding")?;
            Ok((interval, cursor.number("the elements of padding")?))
        })?;
    }
    let fields = Fields::read(cursor, keys, is_gluon)?;
    if *name == "#ttg.shared_linear<" && !is_gluon {
        cursor.expect(",", "`,` and the alignment")?;
        cursor.expect("alignment", "`alignment`")?;
        cursor.expect("=", "`=`")?;
        cursor.number("the alignment in bytes")?;
    }
    if !is_gluon {
        cursor.expect(">", "`>`")?;
    }
    // A tensor has the axes of its encoding, or one more.
    let rank = match (fields.get("rank"), fields.get("order")) {
        (Some(rank), _) => rank.number().and_then(|rank| usize::try_from(rank).ok()).unwrap_or(0),
        (None, Some(order)) => order.list().len(),
        (None, None) if *name == "#ttg.nvmma_shared<" => 2,
        (None, None) => 0,
    };
    let (buffers, sizes) = match sizes {
        [buffers, own @ ..] if !own.is_empty() && own.len() == rank => (Some(*buffers), own),
        _ => (None, sizes),
    };
    if let Some(size) = sizes.iter().find(|size| !size.is_power_of_two()) {
        return Err(refused(format!("Triton's sizes are powers of two, and {size} is not")));
    }
    let tensor = Tensor { buffers, sizes, data_type };
    if fields.get("[..]").is_some() {
        let pairs = fields.bases("[..]", 2)?;
        padding.extend(pairs.iter().filter_map(|pair| Some((*pair.first()?, *pair.last()?))));
    }
    if let Some((interval, _)) = padding.iter().find(|(interval, _)| !interval.is_power_of_two()) {
        return Err(refused(format!("intervals are powers of two, and {interval} is not")));
    }
    if let Some(shape) = fields.get("shape").filter(|shape| shape.list() != sizes) {
        return Err(refused(format!("it is for sizes {}, and the tensor has {}", list(shape.list()), list(sizes))));
    }
    let bases = match *name {
        "#ttg.swizzled_shared<" => tensor.swizzled(&fields)?,
        "#ttg.nvmma_shared<" => tensor.nvmma(&fields)?,
        _ if fields.get("order").is_some() => tensor.packed(&fields.order(sizes.len())?),
        _ => fields.bases("offset", sizes.len())?,
    };
    tensor.map(&bases, &padding)
}

struct Tensor<'t> {
    /// The number of buffers, each of which has the sizes, on an axis in front.
    buffers: Option<u64>,
    sizes: &'t [u64],
    data_type: DataType,
}

impl Tensor<'_> {
    fn size(&self, axis: usize) -> u64 {
        self.sizes.get(axis).copied().unwrap_or(1)
    }

    /// Returns a basis that is `value` on one axis and 0 on the others.
    fn basis(&self, axis: usize, value: u64) -> Basis {
        (0..self.sizes.len()).map(|other| if other == axis { value } else { 0 }).collect()
    }

    /// The bases of the bits of an axis from `start` to `end`, which are powers of two.
    fn bits(&self, axis: usize, (start, end): (u64, u64)) -> impl Iterator<Item = Basis> {
        let bits = start.trailing_zeros()..end.trailing_zeros();
        bits.map(move |bit| self.basis(axis, mask(bit)))
    }

    fn packed(&self, order: &[usize]) -> Vec<Basis> {
        order.iter().flat_map(|&axis| self.bits(axis, (1, self.size(axis)))).collect()
    }

    /// Returns the bases of `swizzled_shared`: the index on the second axis in `order` flips groups of `vec`
    /// indices of the first axis.
    fn swizzled(&self, fields: &Fields<'_>) -> Result<Vec<Basis>, Error> {
        let order = fields.order(self.sizes.len())?;
        let mut bases = self.packed(&order);
        let [column, row] = match order.as_slice() {
            &[column, row, ..] => [column, row],
            _ => return Ok(bases),
        };
        let (vec, per, most) = (fields.number("vec")?, fields.number("perPhase")?, fields.number("maxPhase")?);
        let columns = self.size(column);
        for basis in &mut bases {
            let value = basis.get(row).copied().unwrap_or(0);
            let phase = value.checked_div(per).and_then(|phase| phase.checked_rem(most)).unwrap_or(0);
            if let Some(flips) = basis.get_mut(column) {
                *flips |= checked::mul(vec, phase, OFFSET)?.checked_rem(columns).unwrap_or(0);
            }
        }
        Ok(bases)
    }

    /// Returns the bases of `nvmma_shared`: blocks as wide as the swizzle's span and of at most 256 rows, as
    /// a tensor map copies them. The lowest three bits of the row flip the 16-byte units in the span.
    fn nvmma(&self, fields: &Fields<'_>) -> Result<Vec<Basis>, Error> {
        let (width, bits) = (fields.number("swizzlingByteWidth")?, fields.number("elementBitWidth")?);
        let (transposed, padded) = (fields.flag("transposed"), fields.flag("fp4Padded"));
        let rank = self.sizes.len();
        if fields.get("rank").map_or(2, |value| value.number().unwrap_or(0)) != u64::try_from(rank).unwrap_or(0) {
            return Err(refused(format!("its rank is not that of the sizes, {rank}")));
        }
        if bits != u64::from(self.data_type.bits()) || !matches!(width, 0 | 32 | 64 | 128) {
            let reason = format!(
                "it is for elements of {bits} bits and a swizzle of {width} bytes, and the elements have {} bits",
                self.data_type.bits()
            );
            return Err(refused(reason));
        }
        if transposed && rank > 2 {
            return Err(refused(
                "a transposed encoding of 3 and more axes has no simple rule: write shared_linear".into(),
            ));
        }
        let halves = if padded { 2 } else { 1 };
        let inner = if transposed { 0 } else { rank.saturating_sub(1) };
        let outer: Vec<usize> = (0..rank).rev().filter(|&axis| axis != inner).collect();
        let most = if width == 0 { 256 } else { width.saturating_mul(8).checked_div(bits).unwrap_or(0) / halves };
        let block = |axis: usize| self.size(axis).min(if axis == inner { most } else { 256 });
        let rows: u64 = outer.iter().map(|&axis| block(axis)).fold(1, u64::saturating_mul);
        if width != 0 && (self.size(inner) < most || rows < 8) {
            let sizes = list(self.sizes);
            return Err(refused(format!(
                "a swizzle of {width} bytes needs 8 rows of {most} elements, and {sizes} has less"
            )));
        }
        let mut bases: Vec<Basis> = self.bits(inner, (1, block(inner))).collect();
        if padded {
            // 8 bytes of padding follow every 8 bytes, so bit 3 of the offset selects padding and has no
            // basis.
            bases.insert(3.min(bases.len()), vec![0; rank]);
        }
        let (unit, mut row) = (128_u64.checked_div(bits).unwrap_or(0) / halves, 1_u64);
        for axis in outer {
            for mut basis in self.bits(axis, (1, block(axis))) {
                let per = 128_u64.checked_div(width).unwrap_or(1);
                if let Some(flips) = basis.get_mut(inner).filter(|_| width != 0 && row < 8) {
                    *flips |= unit.saturating_mul(row.checked_div(per).unwrap_or(0));
                }
                row = row.saturating_mul(2);
                bases.push(basis);
            }
        }
        let rest = |axis: usize| self.bits(axis, (block(axis), self.size(axis)));
        match transposed && width == 0 {
            true => bases.extend((0..rank).rev().flat_map(rest)),
            false => bases.extend((0..rank).flat_map(rest)),
        }
        Ok(bases)
    }

    /// Returns the index map of the bases, one for each bit of an offset, the lowest first.
    fn map(&self, bases: &[Basis], padding: &[(u64, u64)]) -> Result<IndexMap, Error> {
        // For each bit of each axis, the bit of the offset that it becomes. For each bit of the offset, the
        // bits that it flips on the way back from offset to index.
        let mut places: Vec<Vec<Option<u32>>> =
            self.sizes.iter().map(|size| vec![None; usize::try_from(size.trailing_zeros()).unwrap_or(0)]).collect();
        let mut back = Vec::new();
        for (place, basis) in (0_u32..).zip(bases) {
            let mut new = None;
            for (axis, (&value, known)) in basis.iter().zip(&mut places).enumerate() {
                if value >= self.size(axis) {
                    let reason = format!("the basis {} of bit {place} is outside of {}", list(basis), list(self.sizes));
                    return Err(refused(reason));
                }
                for (bit, known) in (0_u32..).zip(known).filter(|(bit, _)| value & mask(*bit) != 0) {
                    match *known {
                        Some(lower) => back.push((lower, mask(place))),
                        None if new.is_none() => new = Some((known, bit)),
                        None => return Err(self.two_ways(basis, place)),
                    }
                }
            }
            match new {
                Some((known, _)) => *known = Some(place),
                None if basis.iter().all(|&value| value == 0) => {}
                None => return Err(self.two_ways(basis, place)),
            }
        }
        // The swizzle from index to offset is the inverse of `back`, whose matrix over bits is triangular.
        let back = Swizzle::new(&back)?;
        let count = u32::try_from(bases.len()).unwrap_or(u32::MAX);
        let mut flips = Vec::new();
        for place in 0..count {
            let moved = back.undo(mask(place)) ^ mask(place);
            flips.extend((0..place).filter(|&bit| moved & mask(bit) != 0).map(|bit| (bit, mask(place))));
        }
        if !flips.is_empty() && !padding.is_empty() {
            return Err(refused("it has padding behind flipped bits, and a swizzle is the last step here".into()));
        }
        let mut digits: Vec<Vec<(u64, u64)>> =
            self.buffers.map(|buffers| vec![(buffers, mask(count))]).into_iter().collect();
        if self.buffers.is_some() && !padding.is_empty() {
            return Err(refused("it has one axis less than the tensor, and padding: write one buffer".into()));
        }
        for (axis, bits) in places.iter().enumerate() {
            let mut modes = Vec::new();
            for place in bits.iter().rev() {
                let place = place.ok_or_else(|| {
                    refused(format!("no basis reaches every index of axis {axis}, which has size {}", self.size(axis)))
                })?;
                let offset = mask(place);
                let padded = padding.iter().try_fold(offset, |sum, &(interval, pad)| {
                    checked::add(sum, checked::mul(offset.checked_div(interval).unwrap_or(0), pad, OFFSET)?, OFFSET)
                })?;
                modes.push((2, padded));
            }
            digits.push(modes);
        }
        let map = IndexMap::from_digits(self.data_type, self.data_type.bits(), &digits)?;
        let map = map.with_swizzle(&Swizzle::new(&flips)?)?;
        // Bits of an offset without a basis are padding, which Triton allocates.
        let all = checked::mul(mask(count), self.buffers.unwrap_or(1), OFFSET)?;
        let elements = if padding.is_empty() { all.max(map.physical_elements()) } else { map.physical_elements() };
        map.with_physical_elements(elements)
    }

    fn two_ways(&self, basis: &Basis, place: u32) -> Error {
        refused(format!(
            "the basis {} of bit {place} sets other than one new bit of an index, and here higher bits of an offset flip \
             lower ones",
            list(basis)
        ))
    }
}

/// The fields of an encoding, `{vec = 4, order = [1, 0], transposed = false}`, by their names in a module.
struct Fields<'t>(Vec<(&'t str, Value)>);

enum Value {
    Number(u64),
    Flag(bool),
    List(Vec<u64>),
    Lists(Vec<Vec<u64>>),
}

impl Value {
    fn number(&self) -> Option<u64> {
        if let Value::Number(number) = self { Some(*number) } else { None }
    }

    fn list(&self) -> &[u64] {
        if let Value::List(list) = self { list } else { &[] }
    }
}

impl<'t> Fields<'t> {
    /// Reads the fields, whose names must be in `keys`, the last entry of a row of [`ENCODINGS`]. Fields that
    /// divide a tensor among the blocks of a cluster are refused.
    fn read(cursor: &mut Cursor<'_>, keys: &'t str, is_gluon: bool) -> Result<Fields<'t>, Error> {
        if !is_gluon {
            cursor.expect("{", "`{` and the fields of the encoding")?;
        }
        let fields = cursor.list(if is_gluon { ")" } else { "}" }, |cursor| {
            let (at, word) = (cursor.position(), cursor.word());
            let names = keys.split(' ').map(|key| key.split_once('|').unwrap_or((key, key)));
            let pairs = names.map(|(own, gluon)| (own, if is_gluon { gluon } else { own }));
            let Some((key, _)) = pairs.clone().find(|&(_, printed)| printed == word) else {
                let names: Vec<&str> =
                    pairs.map(|(_, name)| name).filter(|name| !name.starts_with(['[', '-'])).collect();
                return Err(cursor.error_at(at, &format!("one of the fields {}", names.join(", "))));
            };
            cursor.expect("=", "`=`")?;
            let numbers = |cursor: &mut Cursor<'_>| tuple(cursor, |cursor| cursor.number("a number"));
            let value = match cursor.peek() {
                Some(b'[') if cursor.rest().starts_with("[[") => Value::Lists(tuple(cursor, numbers)?),
                Some(b'[') => Value::List(numbers(cursor)?),
                Some(b't' | b'f' | b'T' | b'F') => match cursor.word() {
                    "true" | "True" => Value::Flag(true),
                    "false" | "False" => Value::Flag(false),
                    _ => return Err(cursor.error_at(at, "`true` or `false`")),
                },
                _ => Value::Number(cursor.number("a number, a list, `true` or `false`")?),
            };
            if let ("CGALayout" | "block", Value::Lists(_)) = (key, &value) {
                return Err(refused(
                    "it divides the tensor among the blocks of a cluster, each with its own memory".into(),
                ));
            }
            Ok((key, value))
        })?;
        Ok(Fields(fields))
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    fn number(&self, key: &str) -> Result<u64, Error> {
        let number = self.get(key).and_then(Value::number);
        number
            .filter(|number| number.is_power_of_two() || key == "swizzlingByteWidth")
            .ok_or_else(|| refused(format!("`{key}` must be a power of two")))
    }

    fn flag(&self, key: &str) -> bool {
        matches!(self.get(key), Some(Value::Flag(true)))
    }

    /// The axes, the fastest first.
    fn order(&self, rank: usize) -> Result<Vec<usize>, Error> {
        let axes = self.get("order").map(Value::list).unwrap_or_default();
        let order: Vec<usize> = axes.iter().filter_map(|&axis| usize::try_from(axis).ok()).collect();
        let is_complete = order.len() == rank && (0..rank).all(|axis| order.contains(&axis));
        if is_complete { Ok(order) } else { Err(refused(format!("`order` must have each of the {rank} axes once"))) }
    }

    fn bases(&self, key: &str, rank: usize) -> Result<Vec<Basis>, Error> {
        match self.get(key) {
            Some(Value::Lists(bases)) if bases.iter().all(|basis| basis.len() == rank) && bases.len() < 62 => {
                Ok(bases.clone())
            }
            _ => Err(refused(format!("`{key}` must have a list of {rank} numbers for each bit, at most 61"))),
        }
    }
}
