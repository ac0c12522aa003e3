//! `DML_BUFFER_TENSOR_DESC` as JSON, as DxDispatch's models have it; the long form
//! `{"Type":..,"Desc":{..}}` too.

use tensor_layout::checked::{self, BYTES, Dims, Proven};
use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::{BufferTensorDesc, Error, TensorFlags, ToIndexMap};

use super::Notation;
use super::strided::Strided;
use crate::numbers::{list, signed, tuple};

/// The most dimensions of a tensor (`DML_TENSOR_DIMENSION_COUNT_MAX1`, feature level 3.0). Tensors with more
/// dimensions are neither written nor read.
const DIMENSIONS: usize = 8;

/// The members of an object. Members that are checked at the end are kept with their columns.
#[derive(Default)]
struct Members {
    data_type: Option<DataType>,
    sizes: Option<Vec<u64>>,
    strides: Option<(usize, Vec<(usize, i128)>)>,
    flags: Option<TensorFlags>,
    rank: Option<(usize, u64)>,
    total: Option<u64>,
    alignment: Option<u32>,
    is_inner: bool,
}

/// Reads an object at the cursor, which is behind its `{`.
pub(super) fn read(cursor: &mut Cursor<'_>, start: usize) -> Result<BufferTensorDesc, Error> {
    let mut found = Members::default();
    members(cursor, &mut found)?;
    let end = cursor.position();
    let mut missing = |name: &str| cursor.error_at(start, &format!("an object with {name}"));
    let sizes = found.sizes.ok_or_else(|| missing("Sizes"))?;
    let data_type = found.data_type.ok_or_else(|| missing("DataType"))?;
    let rank = sizes.len();
    if rank == 0 || rank > DIMENSIONS {
        return Err(cursor.error_at(start, &format!("a tensor of 1 to {DIMENSIONS} dimensions")));
    }
    if let Some((at, _)) = found.rank.filter(|&(_, count)| u64::try_from(rank) != Ok(count)) {
        return Err(cursor.error_at(at, &format!("{rank}, the number of sizes")));
    }
    let mut strides = None;
    if let Some((at, given)) = found.strides {
        if given.len() != rank {
            return Err(cursor.error_at(at, &format!("{rank} strides, one for each size")));
        }
        let mut own = Dims::new();
        for (&size, (at, stride)) in sizes.iter().zip(given) {
            match u32::try_from(stride) {
                Ok(stride) => own.push(stride.into()),
                // The stride of an axis of size 1 is unused, so any number is accepted.
                Err(_) if size == 1 => own.push(0),
                Err(_) => return Err(cursor.error_at(at, "a stride below 2^32")),
            }
        }
        strides = Some(own);
    }
    cursor.move_to(end);
    let desc = BufferTensorDesc::new(data_type, &sizes, strides.as_deref())?.with_canonical_strides();
    let desc = desc.with_flags(found.flags.unwrap_or_default());
    let desc = desc.with_base_offset_alignment(found.alignment.unwrap_or(0))?;
    match found.total {
        Some(total) => desc.with_total_size_in_bytes(total),
        None => Ok(desc),
    }
}

fn members(cursor: &mut Cursor<'_>, found: &mut Members) -> Result<(), Error> {
    while !cursor.eat("}") {
        let (at, name) = (cursor.position(), string(cursor)?);
        cursor.expect(":", "`:`")?;
        let value = cursor.position();
        let is_twice = match name {
            "Type" if !found.is_inner => {
                if !matches!(string(cursor)?, "DML_TENSOR_TYPE_BUFFER" | "BUFFER") {
                    return Err(cursor.error_at(value, "DML_TENSOR_TYPE_BUFFER"));
                }
                false
            }
            "Desc" if !found.is_inner => {
                cursor.expect("{", "`{`")?;
                found.is_inner = true;
                members(cursor, found)?;
                found.is_inner = false;
                false
            }
            // A member with the value `null` counts as missing.
            "DataType"
            | "Flags"
            | "DimensionCount"
            | "Sizes"
            | "Strides"
            | "TotalTensorSizeInBytes"
            | "GuaranteedBaseOffsetAlignment"
                if cursor.eat("null") =>
            {
                false
            }
            "DataType" => {
                let data_type = DataType::from_name_in(Naming::Directml, string(cursor)?);
                let expected = "a data type of DirectML such as FLOAT32";
                found.data_type.replace(data_type.ok_or_else(|| cursor.error_at(value, expected))?).is_some()
            }
            "Sizes" | "Strides" if cursor.peek() != Some(b'[') => return Err(cursor.error("`[` and numbers")),
            "Sizes" => found.sizes.replace(tuple(cursor, size)?).is_some(),
            "Strides" => {
                let stride = |cursor: &mut Cursor<'_>| Ok((cursor.position(), signed(cursor)?));
                found.strides.replace((value, tuple(cursor, stride)?)).is_some()
            }
            "DimensionCount" => found.rank.replace((value, cursor.number("a number of dimensions")?)).is_some(),
            "TotalTensorSizeInBytes" => found.total.replace(cursor.number("a size in bytes")?).is_some(),
            "GuaranteedBaseOffsetAlignment" => {
                let bytes = u32::try_from(cursor.number("an alignment in bytes")?);
                let bytes = bytes.map_err(|_| cursor.error_at(value, "an alignment in bytes below 2^32"))?;
                found.alignment.replace(bytes).is_some()
            }
            "Flags" => found.flags.replace(flags(cursor)?).is_some(),
            _ => {
                let expected = "DataType, Flags, DimensionCount, Sizes, Strides, TotalTensorSizeInBytes or \
                                GuaranteedBaseOffsetAlignment";
                return Err(cursor.error_at(at, expected));
            }
        };
        if is_twice {
            return Err(cursor.error_at(at, "a member that was not given before"));
        }
        if !cursor.eat(",") {
            return cursor.expect("}", "`,` or `}`");
        }
    }
    Ok(())
}

fn size(cursor: &mut Cursor<'_>) -> Result<u64, Error> {
    let (at, expected) = (cursor.position(), "a size from 1 to 2^32 - 1");
    let size = cursor.number(expected)?;
    if size >= 1 && u32::try_from(size).is_ok() { Ok(size) } else { Err(cursor.error_at(at, expected)) }
}

fn flags(cursor: &mut Cursor<'_>) -> Result<TensorFlags, Error> {
    let (at, name) = (cursor.position(), string(cursor)?);
    match name.strip_prefix("DML_TENSOR_FLAG_").unwrap_or(name) {
        "NONE" => Ok(TensorFlags::None),
        "OWNED_BY_DML" => Ok(TensorFlags::OwnedByDirectml),
        _ => Err(cursor.error_at(at, "the flag NONE or OWNED_BY_DML")),
    }
}

/// Reads a JSON string. No name needs an escape, so escapes are not decoded.
fn string<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, Error> {
    let start = cursor.position();
    let inner = cursor.rest().strip_prefix('"').and_then(|rest| rest.split_once('"')).map(|(inner, _)| inner);
    let inner = inner.ok_or_else(|| cursor.error_at(start, "a string in double quotes"))?;
    cursor.move_to(start.plus(inner.len()).plus(2));
    Ok(inner)
}

/// Writes the object. A stride of an axis of size 1 is unused, and 1 if it is too large.
pub(super) fn write(strided: &Strided) -> Result<String, Error> {
    let Strided { data_type, desc } = strided;
    let name = data_type.name_in(Naming::Directml);
    let own = || data_type.name_in(Naming::Xla).unwrap_or_default();
    let name = name.ok_or_else(|| Error::unsupported_data_type(own(), "DirectML"))?;
    let refuse = |reason: String| Err(Error::not_expressible(Notation::Directml.noun(), reason));
    let (sizes, rank, most) = (desc.sizes(), desc.rank(), u64::from(u32::MAX));
    if rank == 0 || rank > DIMENSIONS {
        return refuse(format!("it has {rank} dimensions, and DirectML's tensors have 1 to {DIMENSIONS}"));
    }
    if let Some(axis) = sizes.iter().position(|&size| size == 0) {
        return refuse(format!("axis {axis} has size 0, and DirectML has no empty tensors"));
    }
    let strides = sizes.iter().zip(desc.strides());
    let strides: Dims = strides.map(|(&size, &own)| if size == 1 && own > most { 1 } else { own }).collect();
    for (what, numbers) in [("size", sizes), ("stride", &strides)] {
        if let Some((axis, number)) = numbers.iter().enumerate().find(|&(_, &number)| number > most) {
            return refuse(format!("axis {axis} has {what} {number}, and DirectML's numbers have 32 bits"));
        }
    }
    let owned = desc.flags() == TensorFlags::OwnedByDirectml;
    let flags = if owned { ",\"Flags\":\"OWNED_BY_DML\"" } else { "" };
    let alignment = match desc.base_offset_alignment() {
        0 => String::new(),
        alignment => format!(",\"GuaranteedBaseOffsetAlignment\":{alignment}"),
    };
    Ok(format!(
        "{{\"DataType\":\"{name}\"{flags},\"Sizes\":{},\"Strides\":{},\"TotalTensorSizeInBytes\":{}{alignment}}}",
        list(sizes),
        list(&strides),
        checked::round_up(desc.to_index_map()?.physical_size_in_bytes(), 4, BYTES)?
    ))
}
