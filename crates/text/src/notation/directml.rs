//! DirectML's `DML_BUFFER_TENSOR_DESC` as JSON, in the form of DxDispatch's models:
//! `{"DataType":"FLOAT32","Sizes":[2,3],"Strides":[5,1],"TotalTensorSizeInBytes":32}`.
//!
//! `Flags`, `DimensionCount`, `Strides`, `TotalTensorSizeInBytes` and `GuaranteedBaseOffsetAlignment` may be
//! left out. The long form `{"Type":"DML_TENSOR_TYPE_BUFFER","Desc":{..}}` is read too. Source: DxDispatch's
//! guide, section `DML_TENSOR_DESC`.

use core::fmt::Write;

use tensor_layout::Error;
use tensor_layout::checked::{self, BYTES, Dims, Exact};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::strided::{BufferTensorDesc, TensorFlags};

use super::{bits_in_words, unsupported};

use super::strided::{Strided, list};
use super::view_step::signed;

/// The most dimensions of a tensor (`DML_TENSOR_DIMENSION_COUNT_MAX1`, feature level 3.0). Tensors with more
/// dimensions are neither written nor read.
const MAX_DIMENSIONS: usize = 8;

/// Returns the text of a strided layout, or the reason why DirectML cannot express it.
pub(super) fn text(strided: &Strided) -> Result<String, Error> {
    let refuse = |reason: String| Err(Error::not_expressible("DirectML tensor", reason));
    let (data_type, rank) = (strided.data_type, strided.sizes.len());
    let name = data_type.name_in(Naming::Directml).ok_or_else(|| unsupported(data_type, "DirectML"))?;
    let bits = strided.element_bits;
    if bits != data_type.bits() {
        let own = data_type.bits();
        return refuse(format!("an element of {data_type} takes {} here, and {own} in DirectML", bits_in_words(bits)));
    }
    if strided.base != 0 {
        return refuse(format!("it begins at element {}, and the form has no base offset", strided.base));
    }
    if rank == 0 || rank > MAX_DIMENSIONS {
        return refuse(format!("it has {rank} dimensions, and DirectML's tensors have 1 to {MAX_DIMENSIONS}"));
    }
    if let Some(axis) = strided.sizes.iter().position(|&size| size == 0) {
        return refuse(format!("axis {axis} has size 0, and DirectML has no empty tensors"));
    }
    let most = u64::from(u32::MAX);
    // An unused stride that is too large is written as 1.
    let strides = strided.sizes.iter().zip(&strided.strides);
    let strides: Dims = strides.map(|(&size, &stride)| if size == 1 && stride > most { 1 } else { stride }).collect();
    for (what, numbers) in [("size", &strided.sizes), ("stride", &strides)] {
        if let Some((axis, number)) = numbers.iter().enumerate().find(|&(_, &number)| number > most) {
            return refuse(format!("axis {axis} has {what} {number}, and DirectML's numbers have 32 bits"));
        }
    }
    let mut text = format!("{{\"DataType\":\"{name}\"");
    // Writing to a String cannot fail.
    if strided.flags == TensorFlags::OwnedByDirectml {
        text.push_str(",\"Flags\":\"OWNED_BY_DML\"");
    }
    let _ = write!(text, ",\"Sizes\":{},\"Strides\":{}", list(&strided.sizes), list(&strides));
    let _ = write!(text, ",\"TotalTensorSizeInBytes\":{}", strided.total_size_in_bytes()?);
    if strided.alignment != 0 {
        let _ = write!(text, ",\"GuaranteedBaseOffsetAlignment\":{}", strided.alignment);
    }
    text.push('}');
    Ok(text)
}

impl Strided {
    /// The size of the buffer, in bytes, rounded up to DirectML's multiple of 4.
    fn total_size_in_bytes(&self) -> Result<u64, Error> {
        checked::round_up(checked::bytes_for(self.elements, self.element_bits)?, 4, BYTES)
    }
}

/// The members of DirectML's JSON object that have been read so far.
#[derive(Default)]
struct Members {
    data_type: Option<DataType>,
    flags: Option<TensorFlags>,
    dimensions: Option<(usize, u64)>,
    sizes: Option<Dims>,
    /// The column of the list, and each stride with its column.
    strides: Option<(usize, Vec<(usize, i128)>)>,
    total: Option<u64>,
    alignment: Option<u32>,
}

pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<BufferTensorDesc, Error> {
    let mut desc = None;
    let start = cursor.position();
    let mut members = Members::default();
    read_object(cursor, |cursor, key, key_at| {
        match key {
            "Type" => {
                let at = cursor.position();
                if !matches!(read_string(cursor)?, "DML_TENSOR_TYPE_BUFFER" | "BUFFER") {
                    return Err(cursor.error_at(at, "DML_TENSOR_TYPE_BUFFER"));
                }
            }
            "Desc" => desc = Some(read_members(cursor)?),
            _ => read_member(cursor, key, key_at, &mut members)?,
        }
        Ok(())
    })?;
    match desc {
        Some(desc) => Ok(desc),
        None => finish(cursor, start, members),
    }
}

fn read_members(cursor: &mut Cursor<'_>) -> Result<BufferTensorDesc, Error> {
    let start = cursor.position();
    let mut members = Members::default();
    read_object(cursor, |cursor, key, key_at| read_member(cursor, key, key_at, &mut members))?;
    finish(cursor, start, members)
}

/// Reads `{"key": value, ..}`. The closure `value` reads the text after each colon.
fn read_object<'a>(
    cursor: &mut Cursor<'a>,
    mut value: impl FnMut(&mut Cursor<'a>, &'a str, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    cursor.expect("{", "`{`")?;
    cursor.list("}", |cursor| {
        let at = cursor.position();
        let key = read_string(cursor)?;
        cursor.expect(":", "`:`")?;
        value(cursor, key, at)
    })?;
    Ok(())
}

fn read_member(cursor: &mut Cursor<'_>, key: &str, key_at: usize, members: &mut Members) -> Result<(), Error> {
    let at = cursor.position();
    // A member that is null counts as left out.
    if cursor.eat("null") {
        return Ok(());
    }
    let twice = match key {
        "DataType" => {
            let found = DataType::from_name_in(Naming::Directml, read_string(cursor)?);
            let data_type = found.ok_or_else(|| cursor.error_at(at, "a data type of DirectML such as FLOAT32"))?;
            members.data_type.replace(data_type).is_some()
        }
        "Flags" => {
            let name = read_string(cursor)?;
            let flags = match name.strip_prefix("DML_TENSOR_FLAG_").unwrap_or(name) {
                "NONE" => TensorFlags::None,
                "OWNED_BY_DML" => TensorFlags::OwnedByDirectml,
                _ => return Err(cursor.error_at(at, "the flag NONE or OWNED_BY_DML")),
            };
            members.flags.replace(flags).is_some()
        }
        "DimensionCount" => members.dimensions.replace((at, cursor.number("a number of dimensions")?)).is_some(),
        "Sizes" => members.sizes.replace(read_sizes(cursor)?).is_some(),
        "Strides" => {
            cursor.expect("[", "`[` and numbers")?;
            let number = |cursor: &mut Cursor<'_>| Ok((cursor.position(), signed(cursor)?));
            members.strides.replace((at, cursor.list("]", number)?)).is_some()
        }
        "TotalTensorSizeInBytes" => members.total.replace(cursor.number("a size in bytes")?).is_some(),
        "GuaranteedBaseOffsetAlignment" => {
            let bytes = u32::try_from(cursor.number("an alignment in bytes")?);
            let bytes = bytes.map_err(|_| cursor.error_at(at, "an alignment in bytes below 2^32"))?;
            members.alignment.replace(bytes).is_some()
        }
        _ => {
            let known = "DataType, Flags, DimensionCount, Sizes, Strides, TotalTensorSizeInBytes or \
                         GuaranteedBaseOffsetAlignment";
            return Err(cursor.error_at(key_at, known));
        }
    };
    if twice { Err(cursor.error_at(key_at, "a member that was not given before")) } else { Ok(()) }
}

fn finish(cursor: &mut Cursor<'_>, start: usize, members: Members) -> Result<BufferTensorDesc, Error> {
    let end = cursor.position();
    let data_type = members.data_type.ok_or_else(|| cursor.error_at(start, "an object with DataType"))?;
    let sizes = members.sizes.ok_or_else(|| cursor.error_at(start, "an object with Sizes"))?;
    let rank = sizes.len();
    if rank == 0 || rank > MAX_DIMENSIONS {
        return Err(cursor.error_at(start, &format!("a tensor of 1 to {MAX_DIMENSIONS} dimensions")));
    }
    if let Some((at, _)) = members.dimensions.filter(|&(_, count)| u64::try_from(rank) != Ok(count)) {
        return Err(cursor.error_at(at, &format!("{rank}, the number of sizes")));
    }
    if let Some((at, _)) = members.strides.as_ref().filter(|(_, strides)| strides.len() != rank) {
        return Err(cursor.error_at(*at, &format!("{rank} strides, one for each size")));
    }
    let stride = |(&size, &(at, stride)): (&u64, &(usize, i128))| match u32::try_from(stride) {
        Ok(stride) => Ok(stride.into()),
        // The stride of an axis of size 1 is unused, so any number is accepted.
        Err(_) if size == 1 => Ok(0),
        Err(_) => Err(cursor.error_at(at, "a stride below 2^32")),
    };
    let strides = members.strides.iter().flat_map(|(_, strides)| sizes.iter().zip(strides));
    let strides: Dims = strides.map(stride).collect::<Result<_, _>>()?;
    let strides = members.strides.is_some().then_some(&*strides);
    let desc = BufferTensorDesc::new(data_type, &sizes, strides)?
        .with_canonical_strides()
        .with_flags(members.flags.unwrap_or_default())
        .with_base_offset_alignment(members.alignment.unwrap_or(0))?;
    cursor.move_to(end);
    match members.total {
        Some(total) => desc.with_total_size_in_bytes(total),
        None => Ok(desc),
    }
}

fn read_sizes(cursor: &mut Cursor<'_>) -> Result<Dims, Error> {
    let what = "a size from 1 to 2^32 - 1";
    cursor.expect("[", "`[` and numbers")?;
    let number = |cursor: &mut Cursor<'_>| {
        let at = cursor.position();
        let number = cursor.number(what)?;
        let fits = number >= 1 && u32::try_from(number).is_ok();
        if fits { Ok(number) } else { Err(cursor.error_at(at, what)) }
    };
    Ok(cursor.list("]", number)?.into_iter().collect())
}

/// Reads a JSON string. No name needs an escape, so escapes are not decoded.
fn read_string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    let start = cursor.position();
    let inner = cursor.rest().strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(inner, _)| inner);
    let inner = inner.ok_or_else(|| cursor.error_at(start, "a string in double quotes"))?;
    cursor.move_to(start.plus(inner.len()).plus(2));
    Ok(inner)
}
