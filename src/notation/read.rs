//! Reads a layout: first the type and the sizes, then the text that distinguishes the notations.

use alloc::borrow::ToOwned;
use core::str::FromStr;

use crate::cursor::Cursor;
use crate::element::{DataType, Naming};
use crate::error::Error;
#[cfg(feature = "named")]
use crate::named::NamedLayout;
use crate::strided::{AxisOrder, read_order, read_strides};
use crate::typed_sizes::read_type_and_sizes;

use super::{AnyLayout, Notated, Spelling, cute, directml, numpy, onednn};

impl FromStr for Notated {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // Only XLA's notation has sizes that are bounds.
        if text.contains("<=") {
            return Ok(Notated { layout: AnyLayout::Tiled(text.parse()?), spelling: Spelling::Xla });
        }
        // A name is followed by `:`, and a type is followed by sizes, even if one bracket is missing.
        #[cfg(feature = "named")]
        if text.split([']', '[', '{', '(', ')']).next().is_some_and(|name| name.contains(':')) {
            return text.parse::<NamedLayout>()?.try_into();
        }
        let mut cursor = Cursor::new(text);
        if cursor.peek() == Some(b'{') {
            let layout = AnyLayout::Strided(directml::read(&mut cursor)?);
            return at_end(&mut cursor, layout, Spelling::Directml);
        }
        if numpy::begins(&mut cursor) {
            let layout = numpy::read(&mut cursor)?;
            return at_end(&mut cursor, layout, Spelling::Numpy);
        }
        if let Some(data_type) =
            DataType::from_name_in(Naming::Xla, cursor.word()).filter(|_| cursor.peek() == Some(b'('))
        {
            let layout = AnyLayout::Mapped(cute::read(&mut cursor, data_type)?);
            return at_end(&mut cursor, layout, Spelling::CuTe);
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
            let layout = AnyLayout::Strided(read_strides(&mut cursor, data_type, &sizes)?);
            return Ok(Notated { layout, spelling: Spelling::Strides });
        }
        read_word(&mut cursor, data_type, &sizes)
    }
}

/// Returns the layout, after a check that the text ends at the cursor.
fn at_end(cursor: &mut Cursor<'_>, layout: AnyLayout, spelling: Spelling) -> Result<Notated, Error> {
    cursor.end("nothing more")?;
    Ok(Notated { layout, spelling })
}

/// Reads the word after the sizes: an axis order such as `NHWC`, or a oneDNN tag. A tag has digits for its
/// blocks (`nChw16c`), or letters that no axis order has (`ldnc`, or more than 8 letters).
fn read_word(cursor: &mut Cursor<'_>, data_type: DataType, sizes: &[u64]) -> Result<Notated, Error> {
    let start = cursor.position();
    let word = cursor.word();
    cursor.move_to(start);
    let has_blocks = word.contains(|c: char| c.is_ascii_digit());
    if has_blocks || word.parse::<AxisOrder>().is_err() {
        match onednn::read_tag(cursor, data_type, sizes) {
            Ok(shape) => return at_end(cursor, AnyLayout::Tiled(shape), Spelling::OneDnn(word.to_owned())),
            Err(error) if has_blocks => return Err(error),
            Err(_) => cursor.move_to(start),
        }
    }
    let (desc, order) = read_order(cursor, data_type, sizes, " or a oneDNN tag such as nChw16c")?;
    Ok(Notated { layout: AnyLayout::Strided(desc), spelling: Spelling::AxisOrder(order) })
}
