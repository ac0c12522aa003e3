//! The form `transpose`: a tile of the source goes to the destination through workgroup memory, so that both
//! sides are accessed in long runs ([`Tile`]).
//!
//! ```text
//! for each word (or group of words) of the tile, in the order of the source:         tile[place] = source[..]
//! barrier
//! for each word (or group, or square of words), in the order of the destination:     destination[..] = tile[places]
//! ```
//!
//! An item is a word, a group of words or a square. If the items divide evenly among the invocations, each
//! has a fixed number of items and issues all its loads before its first store. If a tile reaches past the
//! end of the box, its workgroup checks every item. All other workgroups check nothing.

use super::super::code::{Code, Condition, Expr, Memory};
use super::super::profile::Sizes;
use super::draft::{Draft, Step, digits, read_at, written_at};
use super::gather::small;
use super::general::put;
use super::grid::shared_out;
use super::strided_box::StridedLoop;
use super::tile::{Counts, Digit, Tile};
use super::words::{low_ones, ones};

/// The most items of an invocation for which code is written out, item by item. With more items, the shader
/// has a loop.
const MOST_ROUNDS: u64 = 16;

/// The most words of an invocation for which code is written out, instead of a loop.
const MOST_WORDS: u64 = 32;

/// Where a part of a box begins in its bindings.
pub(super) struct Bound {
    /// The index in the destination's binding at which the part begins, in words.
    pub(super) destination: u64,
    /// The index in the source's binding, in words, or in elements if rows begin inside words.
    pub(super) source: u64,
    /// The index of the part's last word in the source's binding. No later word is read.
    pub(super) source_last: u64,
}

impl Tile {
    pub(super) fn workgroups(&self) -> u64 {
        self.loops.iter().fold(1, |product: u64, of| product.saturating_mul(of.tiles()))
    }

    pub(super) fn draft(&self, sizes: Sizes, invocations: u32, bound: &Bound) -> Draft {
        let (read, written) = (small(self.read_width), small(self.write_width));
        let (mut draft, source, destination) = Draft::new(sizes, invocations, Some(read), written);
        let Some(source) = source else { return draft };
        let grid = draft.grid();
        let count = draft.uniform("workgroups", self.workgroups(), u32::MAX);
        let to = draft.base("destination_base", bound.destination);
        let back = self.loops.iter().filter(|of| of.step.reversed);
        let back = back
            .fold(0_u64, |sum, of| sum.saturating_add(of.step.source.saturating_mul(of.step.extent.saturating_sub(1))));
        let from = draft.base("source_base", bound.source.saturating_add(back));
        let last = (!self.aligned).then(|| draft.uniform("source_last", bound.source_last, u32::MAX));
        let loops = self.steps(&mut draft);
        let row = self.factor(&mut draft, "row", self.row, true);
        let column = self.factor(&mut draft, "column", self.column, false);
        let tile = draft.shader.shared("tile", small(self.words));
        let mut code = draft.shader.code();
        let group = grid.group(&draft.shader, &mut code);
        let local = draft.shader.local_invocation_index();
        // All invocations of a workgroup take the same branch, so the barrier inside it is allowed.
        code.when(group.less(&count), |code| {
            let tiled: Vec<usize> = (0..self.loops.len()).filter(|&place| self.is_tiled(place)).collect();
            let steps: Vec<Step> =
                tiled.iter().filter_map(|&place| loops.get(place)).map(|of| of.step.clone()).collect();
            let mut firsts = vec![Expr::from(0); self.loops.len()];
            for (number, &place) in digits(code, group, &steps).into_iter().zip(&tiled) {
                let tile = self.loops.get(place).map_or(1, |of| of.tile);
                if let Some(first) = firsts.get_mut(place) {
                    *first = code.bind("first", number * small(tile));
                }
            }
            let of_tiled: Vec<Expr> = tiled.iter().filter_map(|&place| firsts.get(place).cloned()).collect();
            let from = code.bind("tile_from", read_at(from, &of_tiled, &steps));
            let to = code.bind("tile_to", written_at(to, &of_tiled, &steps));
            let body = Body {
                tile: self,
                source,
                destination,
                shared: tile,
                loops,
                row,
                column,
                firsts,
                from,
                to,
                last,
                invocations,
                local,
            };
            let whole = body.is_whole();
            code.when_else(whole.clone(), |code| body.read(code, false), |code| body.read(code, true));
            code.barrier();
            code.when_else(whole, |code| body.write(code, false), |code| body.write(code, true));
        });
        draft.shader = draft.shader.with_body(code);
        draft
    }

    fn is_tiled(&self, place: usize) -> bool {
        self.loops.get(place).is_some_and(|of| of.tile < of.step.extent)
    }

    /// Declares the divisor, the strides and the size of each loop.
    fn steps(&self, draft: &mut Draft) -> Vec<LoopNumbers> {
        let mut outermost = true;
        let mut numbers = Vec::with_capacity(self.loops.len());
        for (place, of) in self.loops.iter().enumerate() {
            let tiles = StridedLoop { extent: of.tiles(), ..of.step };
            let step = draft.step(place, &tiles, self.is_tiled(place) && !outermost);
            outermost &= !self.is_tiled(place);
            let ragged = of.is_ragged() || (draft.sizes != Sizes::Constants && self.is_tiled(place));
            let elements = if ragged { draft.number(&format!("elements_{place}"), of.elements) } else { Expr::from(0) };
            numbers.push(LoopNumbers { step, elements, ragged });
        }
        numbers
    }

    /// Declares a stride inside a square. The stride is a literal if the shader has other code for its value,
    /// and otherwise a word of the uniform block.
    fn factor(&self, draft: &mut Draft, name: &str, value: u64, source: bool) -> Expr {
        let structural = self.square == 1 || value == 1 || (source && value == self.square && !self.aligned);
        if structural { Expr::from(small(value)) } else { draft.number(name, value) }
    }
}

/// A loop as expressions of the shader. If `ragged`, a tile may reach past the last of the `elements`.
struct LoopNumbers {
    step: Step,
    elements: Expr,
    ragged: bool,
}

/// The values that the reading and the writing half of the shader share.
struct Body<'a> {
    tile: &'a Tile,
    source: Memory,
    destination: Memory,
    shared: Memory,
    loops: Vec<LoopNumbers>,
    row: Expr,
    column: Expr,
    /// The first step of the workgroup's tile in each loop.
    firsts: Vec<Expr>,
    from: Expr,
    to: Expr,
    last: Option<Expr>,
    invocations: u32,
    local: Expr,
}

/// The item of an invocation, as the value of each digit of its number.
type Item = Vec<(Digit, Expr)>;

impl Body<'_> {
    fn first(&self, place: usize) -> Expr {
        self.firsts.get(place).cloned().unwrap_or_else(|| Expr::from(0))
    }

    /// Returns the condition that the tile is inside the box in every loop.
    fn is_whole(&self) -> Condition {
        let mut whole = Condition::True;
        for (place, (of, numbers)) in self.tile.loops.iter().zip(&self.loops).enumerate() {
            if numbers.ragged {
                let past = (self.first(place) + small(of.tile)) * small(of.per_step);
                whole = whole.and(past.less(numbers.elements.clone() + 1));
            }
        }
        whole
    }

    /// Returns the value of a digit, or 0 if the item does not have this digit.
    fn digit(item: &Item, counts: Counts) -> Expr {
        item.iter().find(|(digit, _)| digit.counts == counts).map_or(Expr::from(0), |(_, value)| value.clone())
    }

    /// Returns the condition that the first element of an item, or of this row of its square, is in the box.
    fn inside(&self, item: &Item, row: Option<&Expr>) -> Condition {
        let mut inside = Condition::True;
        for (place, (of, numbers)) in self.tile.loops.iter().zip(&self.loops).enumerate() {
            if numbers.ragged {
                let mut element = (self.first(place) + Self::digit(item, Counts::Loop(place))) * small(of.per_step);
                if place == self.tile.along_destination
                    && of.per_step > 1
                    && let Some(row) = row
                {
                    element = element + row;
                }
                inside = inside.and(element.less(&numbers.elements));
            }
        }
        inside
    }

    /// Writes the code of `each` for all items of an invocation, one by one or in a loop. `each` gets the
    /// item's offset in its buffer and its index in workgroup memory. `done` gets what `each` returns.
    fn items(
        &self,
        code: &mut Code,
        writing: bool,
        as_loop: bool,
        mut each: impl FnMut(&mut Code, &Item, Expr, Expr) -> Vec<(Expr, Vec<Expr>)>,
        done: impl Fn(&mut Code, Vec<(Expr, Vec<Expr>)>),
    ) {
        let tile = self.tile;
        let order = if writing { &tile.write } else { &tile.read };
        let (along, width) = match writing {
            true if tile.writes_columns => (None, 1),
            true => (Some(Counts::Loop(tile.along_destination)), tile.write_width),
            false => (Some(Counts::Loop(tile.along_source)), tile.read_width),
        };
        let extents = tile.items(writing);
        let scale = |digit: &Digit| if Some(digit.counts) == along { small(width) } else { 1 };
        let start = if writing { &self.to } else { &self.from };
        let words = if writing { tile.write_width.saturating_mul(tile.square) } else { tile.read_width };
        // Reads of workgroup memory have little latency, and the code of a square is long. So a loop is taken
        // earlier.
        let most_words = if writing && tile.square > 1 { MOST_WORDS.div_euclid(2) } else { MOST_WORDS };
        let most = most_words.div_euclid(words.max(1)).min(MOST_ROUNDS);
        if let Some(parts) = shared_out(&extents, self.invocations.into(), most).filter(|_| !as_loop) {
            let mut rest = self.local.clone();
            let mut own = Item::new();
            for (at, (digit, &(inside, _))) in order.iter().zip(&parts).enumerate() {
                let is_last =
                    parts.get(at.saturating_add(1)..).unwrap_or_default().iter().all(|(inside, _)| *inside == 1);
                let value = if is_last { rest.clone() } else { &rest % small(inside) };
                rest = if is_last { Expr::from(0) } else { &rest / small(inside) };
                own.push((*digit, code.bind("digit", value) * scale(digit)));
            }
            let place = code.bind("place", Self::place(&own));
            let at = code.bind(if writing { "to" } else { "from" }, self.moved(start.clone(), &own, writing));
            let rounds = parts.iter().fold(1_u64, |product, part| product.saturating_mul(part.1));
            let mut loaded = Vec::new();
            for round in 0..rounds {
                let mut left = round;
                let mut further = Item::new();
                for (digit, &(inside, times)) in order.iter().zip(&parts) {
                    let time = left.checked_rem(times).unwrap_or(0);
                    left = left.checked_div(times).unwrap_or(0);
                    further.push((*digit, Expr::from(small(time.saturating_mul(inside))) * scale(digit)));
                }
                let (at, place) = (self.moved(at.clone(), &further, writing), &place + Self::place(&further));
                loaded.extend(each(code, &own, at, place));
            }
            return done(code, loaded);
        }
        let all = extents.iter().fold(1_u64, |product, extent| product.saturating_mul(*extent));
        code.repeat("i", &self.local, small(all), self.invocations, |code, i| {
            let mut rest = i;
            let mut item = Item::new();
            for (at, (digit, &extent)) in order.iter().zip(&extents).enumerate() {
                let is_last = at.saturating_add(1) == extents.len();
                let value = if is_last { rest.clone() } else { code.bind("digit", &rest % small(extent)) };
                rest = if is_last { Expr::from(0) } else { code.bind("rest", &rest / small(extent)) };
                item.push((*digit, value * scale(digit)));
            }
            let (at, place) = (self.moved(start.clone(), &item, writing), Self::place(&item));
            let loaded = each(code, &item, at, place);
            done(code, loaded);
        });
    }

    /// Adds the digits of an item, each times its stride on this side, to `start`.
    fn moved(&self, start: Expr, item: &Item, writing: bool) -> Expr {
        item.iter().fold(start, |sum, (digit, value)| match digit.counts {
            Counts::Loop(place) => match self.loops.get(place) {
                Some(of) if writing => of.step.written(sum, value),
                Some(of) => of.step.read(sum, value),
                None => sum,
            },
            Counts::Row => sum + value * &self.row,
            Counts::Column => sum + value * &self.column,
        })
    }

    /// Returns the index of an item's first word in workgroup memory.
    fn place(item: &Item) -> Expr {
        item.iter().fold(Expr::from(0), |sum, (digit, value)| sum + value * small(digit.shared))
    }

    fn read(&self, code: &mut Code, checked: bool) {
        let tile = self.tile;
        let put_all = |code: &mut Code, loaded: Vec<(Expr, Vec<Expr>)>| {
            for (place, words) in loaded {
                for (part, word) in (0..).zip(words) {
                    let step = small(tile.shared(Counts::Loop(tile.along_source)).max(1));
                    code.store(&self.shared, &place + step.saturating_mul(part), word);
                }
            }
        };
        let load = |code: &mut Code, at: Expr, place: Expr| {
            if tile.aligned {
                let words = code.load_group("words", &self.source, at / small(tile.read_width));
                return vec![(place, words)];
            }
            let at = code.bind("from", at);
            let word = code.bind("from_word", &at / tile.width.in_period);
            let shift = code.bind("shift", (at % tile.width.in_period) * tile.width.bits);
            let goes_on = self.last.as_ref().map_or(Condition::True, |last| word.less(last));
            let value = code.load_across("value", &self.source, &word, &shift, shift.not_equal(0).and(goes_on));
            vec![(place, vec![value])]
        };
        if !checked {
            return self.items(code, false, false, |code, _, at, place| load(code, at, place), put_all);
        }
        let checked_load = |code: &mut Code, item: &Item, at: Expr, place: Expr| {
            let row = Self::digit(item, Counts::Row);
            code.when(self.inside(item, Some(&row)), |code| {
                let place = code.bind("place", place);
                let loaded = load(code, at, place);
                put_all(code, loaded);
            });
            Vec::new()
        };
        self.items(code, false, true, checked_load, |_, _| {});
    }

    fn write(&self, code: &mut Code, checked: bool) {
        let tile = self.tile;
        let store_all = |code: &mut Code, made: Vec<(Expr, Vec<Expr>)>| {
            for (to, words) in made {
                code.store_group(&self.destination, to, &words);
            }
        };
        // The words of an incomplete square keep the destination's bits that the square does not cover.
        let partial = |place: usize| {
            tile.loops.get(place).is_some_and(|of| of.elements != of.step.extent.saturating_mul(of.per_step))
        };
        let partial_rows =
            tile.square > 1 && (partial(tile.along_destination) || self.uniform_square(tile.along_destination));
        let partial_columns = tile.square > 1 && (partial(tile.along_source) || self.uniform_square(tile.along_source));
        let make = |code: &mut Code, item: &Item, to: Expr, place: Expr, checked: bool| {
            let place = if checked || !tile.in_registers() { code.bind("place", place) } else { place };
            if tile.square == 1 {
                let step = small(tile.shared(Counts::Loop(tile.along_destination)));
                let words = (0..small(tile.write_width))
                    .map(|part| code.bind("word", self.shared.at(&place + step.saturating_mul(part))));
                let words = words.collect();
                return vec![(to / small(tile.write_width), words)];
            }
            let first_row = (self.first(tile.along_destination)
                + Self::digit(item, Counts::Loop(tile.along_destination)))
                * small(tile.square);
            let rows = self.loops.get(tile.along_destination).map_or(Expr::from(0), |of| of.elements.clone());
            let left = (checked && partial_rows).then(|| code.bind("left", rows - first_row));
            if !tile.in_registers() {
                self.column_word(code, item, &place, left, to, checked && partial_columns);
                return Vec::new();
            }
            let to = if checked { code.bind("to", to) } else { to };
            self.square(code, item, &place, left, to, checked && partial_columns)
        };
        if !checked {
            let make = |code: &mut Code, item: &Item, to, place| make(code, item, to, place, false);
            return self.items(code, true, !tile.in_registers(), make, store_all);
        }
        let checked_make = |code: &mut Code, item: &Item, to: Expr, place: Expr| {
            code.when(self.inside(item, None), |code| {
                let made = make(code, item, to, place, true);
                store_all(code, made);
            });
            Vec::new()
        };
        self.items(code, true, true, checked_make, |_, _| {});
    }

    /// Whether the size of a loop is a word of the uniform block, so that squares may be incomplete along it.
    fn uniform_square(&self, place: usize) -> bool {
        self.loops.get(place).is_some_and(|of| of.ragged && of.elements.constant().is_none())
    }

    fn has_column(&self, item: &Item, column: Expr) -> Condition {
        let along = self.tile.along_source;
        let square = small(self.tile.square);
        let element = (self.first(along) + Self::digit(item, Counts::Loop(along))) * square + column;
        self.loops.get(along).map_or(Condition::True, |of| element.less(&of.elements))
    }

    /// Returns the words of a square's columns, transposed in registers. If one access writes several words,
    /// as many squares, one below the other, are transposed together.
    fn square(
        &self,
        code: &mut Code,
        item: &Item,
        place: &Expr,
        left: Option<Expr>,
        to: Expr,
        check_columns: bool,
    ) -> Vec<(Expr, Vec<Expr>)> {
        let tile = self.tile;
        let (bits, square) = (tile.width.bits, small(tile.square));
        let group = if tile.writes_columns { 1 } else { small(tile.write_width) };
        let [below, row] = [Counts::Loop(tile.along_destination), Counts::Row].map(|counts| small(tile.shared(counts)));
        let mut rows: Vec<Vec<Expr>> = Vec::new();
        for part in 0..group {
            let words = (0..square).map(|k| {
                let at = place + (part.saturating_mul(below).saturating_add(k.saturating_mul(row)));
                let Some(left) = &left else { return code.bind("word", self.shared.at(at)) };
                let word = code.variable("word", 0, u32::MAX);
                code.when(Expr::from(k).less(left), |code| code.assign(&word, self.shared.at(at)));
                Expr::from(&word)
            });
            rows.push(words.collect());
        }
        let turned = |part: &Vec<Expr>, column: u32| {
            part.iter().zip(0..).fold(Expr::from(0), |value, (word, k): (&Expr, u32)| {
                let (down, up) = (column.saturating_mul(bits), k.saturating_mul(bits));
                let is_last = k.saturating_add(1) == square;
                let element = match is_last {
                    // The element of the last row needs no mask, because the shift moves the bits above it
                    // out of the word.
                    true if down == up => word & u32::MAX.wrapping_shl(up),
                    true => (word >> down).wrapping_shl(up),
                    false => ((word >> down) & low_ones(bits)) << up,
                };
                value | element
            })
        };
        if tile.writes_columns {
            let words: Vec<Expr> =
                rows.first().map_or(Vec::new(), |part| (0..square).map(|column| turned(part, column)).collect());
            if tile.write_width > 1 && !check_columns && left.is_none() {
                return vec![(to / square, words)];
            }
            return self.columns(
                code,
                item,
                words.into_iter().map(|word| vec![word]).collect(),
                left,
                to,
                check_columns,
            );
        }
        let made = (0..square).map(|column| rows.iter().map(|part| turned(part, column)).collect());
        self.columns(code, item, made.collect(), left, to, check_columns)
    }

    /// Stores the columns that may be incomplete, and returns the words of all other columns with their
    /// offsets.
    fn columns(
        &self,
        code: &mut Code,
        item: &Item,
        columns: Vec<Vec<Expr>>,
        left: Option<Expr>,
        to: Expr,
        check: bool,
    ) -> Vec<(Expr, Vec<Expr>)> {
        let width = small(self.tile.write_width);
        let mut made = Vec::new();
        for (column, words) in (0..).zip(columns) {
            let to = (&to + &self.column * column) / width;
            if !check && left.is_none() {
                made.push((to, words));
                continue;
            }
            let exists = if check { self.has_column(item, Expr::from(column)) } else { Condition::True };
            code.when(exists, |code| match (&left, words.as_slice()) {
                (Some(left), [word]) => self.put_part(code, left, to, word.clone()),
                _ => code.store_group(&self.destination, to, &words),
            });
        }
        made
    }

    fn put_part(&self, code: &mut Code, left: &Expr, to: Expr, word: Expr) {
        let mask = ones(&(left.clone().min(small(self.tile.square)) * self.tile.width.bits));
        let to = code.bind("to", to);
        put(code, &self.destination, &to, word, mask);
    }

    /// Writes code that makes and stores one column of a square that is too large for registers.
    fn column_word(&self, code: &mut Code, item: &Item, place: &Expr, left: Option<Expr>, to: Expr, check: bool) {
        let tile = self.tile;
        let (bits, square) = (tile.width.bits, small(tile.square));
        let column = Self::digit(item, Counts::Column);
        let exists = if check { self.has_column(item, column.clone()) } else { Condition::True };
        code.when(exists, |code| {
            let shift = code.bind("tile_shift", column * bits);
            let value = code.variable("packed", 0, u32::MAX);
            let row = small(tile.shared(Counts::Row));
            code.repeat("e", 0, square, 1, |code, e| {
                let there = left.as_ref().map_or(Condition::True, |left| e.less(left));
                code.when(there, |code| {
                    let element = (self.shared.at(place + &e * row) >> &shift) & low_ones(bits);
                    code.assign(&value, Expr::from(&value) | (element << (e * bits)));
                });
            });
            match &left {
                Some(left) => self.put_part(code, left, to, (&value).into()),
                None => code.store(&self.destination, to, &value),
            }
        });
    }
}
