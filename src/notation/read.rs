//! The reader: type and sizes, then whatever tells the notations apart.

use std::str::FromStr;

use crate::checked::Dims;
use crate::cursor::Cursor;
use crate::element::DataType;
use crate::error::Error;
use crate::strided::{AxisOrder, BufferTensorDesc};
use crate::tiled::read_type_and_sizes;

use super::{AnyLayout, Notated, Spelling, cute, directml, numpy, onednn};

impl FromStr for Notated {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // Only XLA's notation has sizes that are bounds.
        if text.contains("<=") {
            return Ok(Notated { layout: AnyLayout::Tiled(text.parse()?), spelling: Spelling::Xla });
        }
        let mut cursor = Cursor::new(text);
        if cursor.peek() == Some(b'{') {
            let layout = AnyLayout::Strided(directml::read(&mut cursor)?);
            cursor.end("nothing more")?;
            return Ok(Notated { layout, spelling: Spelling::DirectMl });
        }
        if numpy::begins(&mut cursor) {
            let layout = numpy::read(&mut cursor)?;
            cursor.end("nothing more")?;
            return Ok(Notated { layout, spelling: Spelling::Numpy });
        }
        if let Some(data_type) = DataType::from_xla_name(cursor.word()).filter(|_| cursor.peek() == Some(b'(')) {
            let layout = AnyLayout::Mapped(cute::read(&mut cursor, data_type)?);
            cursor.end("nothing more")?;
            return Ok(Notated { layout, spelling: Spelling::CuTe });
        }
        cursor.move_to(0);
        let (data_type, sizes) = read_type_and_sizes(&mut cursor)?;
        if !cursor.eat(":") {
            if !matches!(cursor.peek(), None | Some(b'{')) {
                return Err(cursor.error("`{` and an XLA layout, `:` and strides or an axis order, or nothing more"));
            }
            return Ok(Notated { layout: AnyLayout::Tiled(text.parse()?), spelling: Spelling::Xla });
        }
        if cursor.peek() == Some(b'[') {
            read_strides(&mut cursor, data_type, &sizes)
        } else {
            read_order(&mut cursor, data_type, &sizes)
        }
    }
}

/// `[5,1]`, perhaps with `+10` behind it.
fn read_strides(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<Notated, Error> {
    let start = cursor.position();
    cursor.expect("[", "`[` and the strides")?;
    let strides: Dims = cursor.list("]", |cursor| cursor.number("a stride"))?.into_iter().collect();
    if strides.len() != sizes.len() {
        return Err(cursor.error_at(start, &format!("{} strides, one for each size", sizes.len())));
    }
    let mut desc = BufferTensorDesc::new(data_type, sizes, Some(&strides))?;
    if cursor.eat("+") {
        desc = desc.with_base_offset(cursor.number("a base offset in elements")?)?;
    }
    cursor.end("nothing more, or `+` and a base offset in elements")?;
    Ok(Notated { layout: AnyLayout::Strided(desc), spelling: Spelling::Strides })
}

/// `NHWC`, or a oneDNN tag: with blocks, which the digits in it tell apart (`nChw16c`), or with letters that no axis
/// order has (`ldnc`, or more than 8).
fn read_order(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<Notated, Error> {
    let start = cursor.position();
    let word = cursor.word();
    let end = cursor.position();
    let has_blocks = word.contains(|c: char| c.is_ascii_digit());
    if has_blocks || AxisOrder::new(word).is_err() {
        cursor.move_to(start);
        match onednn::read_tag(cursor, data_type, sizes) {
            Ok(shape) => {
                cursor.end("nothing more")?;
                let layout = AnyLayout::Tiled(shape);
                return Ok(Notated { layout, spelling: Spelling::OneDnn(word.to_owned()) });
            }
            Err(error) if has_blocks => return Err(error),
            Err(_) => cursor.move_to(end),
        }
    }
    let order = match AxisOrder::new(word) {
        Ok(order) => order,
        Err(Error::BadAxisOrder { reason, .. }) => {
            let expected =
                format!("strides in brackets, an axis order such as NHWC ({reason}) or a oneDNN tag such as nChw16c");
            return Err(cursor.error_at(start, &expected));
        }
        Err(error) => return Err(error),
    };
    if order.rank() != sizes.len() {
        return Err(cursor.error_at(start, &format!("an axis order of {} letters, one for each size", sizes.len())));
    }
    cursor.end("nothing more")?;
    let layout = AnyLayout::Strided(BufferTensorDesc::with_order(data_type, sizes, order)?);
    Ok(Notated { layout, spelling: Spelling::AxisOrder(order) })
}
