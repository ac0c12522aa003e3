//! Reads a layout: first the type and the sizes, then the text that distinguishes the notations.

use core::str::FromStr;

use tensor_layout::cursor::Cursor;
use tensor_layout::element::{DataType, Naming};
use tensor_layout::plan::read_type_and_sizes;
use tensor_layout::{AnyLayout, AxisOrder, Error};

use crate::named::NamedLayout;

use super::{Notated, Spelling, cute, directml, numpy, onednn};

impl FromStr for Notated {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // A name is followed by `:`, and a type is followed by sizes, even if one bracket is missing.
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
        let Ok((data_type, sizes)) = read_type_and_sizes(&mut cursor) else { return own(text, Spelling::Xla) };
        if !cursor.eat(":") {
            return own(text, Spelling::Xla);
        }
        if cursor.peek() == Some(b'[') {
            return own(text, Spelling::Strides);
        }
        // An axis order such as `NHWC`, or a oneDNN tag. A tag has digits for its blocks (`nChw16c`), or
        // letters that no axis order has (`ldnc`, or more than 8 letters).
        let start = cursor.position();
        let word = cursor.word();
        let order = word.parse::<AxisOrder>();
        let has_blocks = word.contains(|c: char| c.is_ascii_digit());
        match order {
            Ok(order) if !has_blocks => own(text, Spelling::AxisOrder(order)),
            order => {
                cursor.move_to(start);
                match onednn::read_tag(&mut cursor, data_type, &sizes) {
                    Ok(shape) => at_end(&mut cursor, AnyLayout::Tiled(shape), Spelling::OneDnn(word.to_owned())),
                    Err(error) if has_blocks => Err(error),
                    Err(_) => {
                        let reason = order.err().map(|error| error.to_string()).unwrap_or_default();
                        let expected = format!(
                            "strides in brackets, an axis order such as NHWC ({reason}) or a oneDNN tag such as nChw16c"
                        );
                        Err(cursor.error_at(start, &expected))
                    }
                }
            }
        }
    }
}

/// Reads one of the library's own notations.
fn own(text: &str, spelling: Spelling) -> Result<Notated, Error> {
    Ok(Notated { layout: text.parse()?, spelling })
}

/// Returns the layout, after a check that the text ends at the cursor.
fn at_end(cursor: &mut Cursor<'_>, layout: AnyLayout, spelling: Spelling) -> Result<Notated, Error> {
    cursor.end("nothing more")?;
    Ok(Notated { layout, spelling })
}
