//! Draws the live memory over the schedule as SVG.

use std::fmt::Write;

use tensor_layout::tiled::TpuGeneration;

use super::levers::hbm_bytes;
use super::live::LiveMemory;
use super::report::{BufferUse, InstructionPlace, MemoryTotal, memory_name};
use crate::short_bytes;

/// The position and the size of the area in which the bands are drawn, in pixels.
const LEFT: f64 = 90.0;
const TOP: f64 = 70.0;
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 320.0;
const BOTTOM: f64 = TOP + HEIGHT;

/// The most columns of the drawn area. If the schedule has more instructions, a column stands for several of
/// them and shows the time with the most bytes.
const COLUMNS: u32 = 860;

/// How many temporaries have a band and a colour of their own. All others share one band.
const BANDS: usize = 8;

const COLOURS: [&str; BANDS] = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f"];

/// The colour of parameters and results.
const FIXED: &str = "#c8ccd0";
/// The colour of the temporaries without a band of their own.
const OTHERS: &str = "#e4d5b7";

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:15px;font-weight:600}\
    .end{text-anchor:end}.middle{text-anchor:middle}.page{fill:#fff}.grid{stroke:#ddd}\
    .peak{stroke:#222;stroke-dasharray:4 3}.limit{stroke:#c0392b;stroke-width:2}\
    @media(prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#1b1d20}.grid{stroke:#3c4046}.peak{stroke:#ddd}\
    .limit{stroke:#ff7b6b}}";

/// Ticks divide an axis into at most about this many steps.
const TICKS: u128 = 6;

/// The capacity of the device is drawn if it is at most this many times the peak. If it is larger, the bands
/// below its line would be flat, so the title states it instead.
const FARTHEST_CAPACITY: u128 = 4;

impl LiveMemory<'_> {
    /// Returns a picture of the bytes in use in a memory space over the schedule, as SVG. Parameters and
    /// results are at the bottom. Above them are bands for the temporaries that are largest at the peak. All
    /// other temporaries are on top.
    ///
    /// The size of the picture does not depend on the length of the program.
    ///
    /// ```
    /// use tensor_layout_hlo::Module;
    ///
    /// let dump = "HloModule m, is_scheduled=true
    ///
    /// ENTRY %e (x: f32[1000]) -> f32[1000] {
    ///   %x = f32[1000]{0} parameter(0)
    ///   %y = f32[1000]{0} reverse(%x), dimensions={0}
    ///   ROOT %z = f32[1000]{0} dot(%x, %y)
    /// }";
    /// let module = Module::read(dump.as_bytes())?;
    /// let svg = module.live_memory().ok_or("no entry computation")?.to_svg(0);
    /// assert!(svg.starts_with("<svg") && svg.contains("y, 3.9 KiB"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_svg(&self, space: u64) -> String {
        self.to_svg_on(space, None)
    }

    /// Returns the picture of [`to_svg`](Self::to_svg) with a line for the HBM of a device of this generation
    /// ([`hbm_bytes`]), if `space` is the main memory. If the line would be far above the peak, the title
    /// states the capacity instead.
    ///
    /// ```
    /// use tensor_layout::tiled::TpuGeneration;
    /// use tensor_layout_hlo::Module;
    ///
    /// let dump = "ENTRY %e (x: f32[8589934592]) -> f32[] {
    ///   ROOT %x = f32[8589934592]{0:T(1024)} parameter(0)
    /// }";
    /// let module = Module::read(dump.as_bytes())?;
    /// let svg = module.live_memory().ok_or("no entry computation")?.to_svg_on(0, Some(TpuGeneration::V5e));
    /// assert!(svg.contains("a v5e has 16.0 GiB"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_svg_on(&self, space: u64, generation: Option<TpuGeneration>) -> String {
        let mut chart = Chart::new(self, space, generation);
        chart.write_title(generation);
        chart.write_grid();
        chart.write_bands();
        chart.mark_peak();
        chart.mark_capacity(generation);
        chart.finish()
    }

    /// Returns for each column the time with the most bytes in use, among the times of the column, and these
    /// bytes.
    fn columns(&self, space: u64) -> Vec<(u32, u128)> {
        let times = self.instructions();
        let count = times.min(COLUMNS);
        let profile = self.profile(space);
        let mut steps = profile.iter().peekable();
        let (mut now, mut start) = ((0, 0), 0);
        let mut columns = Vec::new();
        for column in 0..count {
            // The first time after this column.
            let end = u64::from(column).saturating_add(1).saturating_mul(times.into()).checked_div(count.into());
            let end = end.and_then(|end| u32::try_from(end).ok()).unwrap_or(times);
            // The bytes in use at the end of the column before are in use at the start of this column too,
            // unless they change at its first time.
            let changes = steps.peek().is_some_and(|next| next.0 == start);
            let mut best = if changes { None } else { Some((start, now.1)) };
            while let Some(&&next) = steps.peek().filter(|next| next.0 < end) {
                now = next;
                if best.is_none_or(|best| now.1 > best.1) {
                    best = Some(now);
                }
                steps.next();
            }
            columns.extend(best);
            start = end;
        }
        columns
    }
}

fn float(number: u128) -> f64 {
    let piece = |shift: u32| f64::from(u32::try_from((number >> shift) & u128::from(u32::MAX)).unwrap_or(u32::MAX));
    let base = f64::from(u32::MAX) + 1.0;
    ((piece(96) * base + piece(64)) * base + piece(32)) * base + piece(0)
}

/// The picture while it is written. The height of a band is in bytes, with an entry for each column.
struct Chart<'a> {
    live: &'a LiveMemory<'a>,
    space: u64,
    total: MemoryTotal,
    /// The bytes that the upper edge of the area stands for.
    top: u128,
    /// The capacity of the device in bytes. `None` if no line is drawn for it.
    capacity: Option<u128>,
    /// The time of the peak, or 0 if the bytes never change, and the instruction that runs at that time.
    peak_time: u32,
    peak: Option<InstructionPlace>,
    /// For each column the time with the most bytes in use, and these bytes.
    columns: Vec<(u32, u128)>,
    page: String,
    /// The colour and the label of each band, in the order in which the bands are drawn.
    legend: Vec<(&'static str, String)>,
}

impl Chart<'_> {
    fn new<'a>(live: &'a LiveMemory<'a>, space: u64, generation: Option<TpuGeneration>) -> Chart<'a> {
        let found = live.spaces().iter().find(|found| found.space == space);
        let peak_time = found.and_then(|found| found.peak_time);
        let total = found.map(|found| found.total).unwrap_or_default();
        let peak = total.peak_bytes.max(found.map_or(0, |found| found.live_bytes));
        let capacity = generation.filter(|_| space == 0).and_then(hbm_bytes).map(u128::from);
        let capacity = capacity.filter(|&bytes| bytes <= peak.saturating_mul(FARTHEST_CAPACITY));
        Chart {
            live,
            space,
            total,
            top: peak.max(capacity.unwrap_or(0)),
            capacity,
            peak_time: peak_time.unwrap_or(0),
            peak: peak_time.and_then(|time| live.instruction(time)),
            columns: live.columns(space),
            page: String::new(),
            legend: Vec::new(),
        }
    }

    /// Returns the vertical position that stands for a number of bytes, in pixels from the top of the
    /// picture.
    fn level(&self, bytes: f64) -> f64 {
        let top = float(self.top);
        BOTTOM - if top > 0.0 { bytes / top * HEIGHT } else { 0.0 }
    }

    fn write_title(&mut self, generation: Option<TpuGeneration>) {
        let space = self.space;
        let name = memory_name(space, self.live.on_tpu).map_or_else(|| format!("S({space})"), str::to_owned);
        let fixed = short_bytes(self.total.peak_bytes.saturating_sub(self.total.temp_bytes));
        let mut title = format!("{name}: {} at the peak", short_bytes(self.total.peak_bytes));
        let has = generation.filter(|_| space == 0 && self.capacity.is_none());
        if let Some((generation, bytes)) = has.and_then(|generation| Some((generation, hbm_bytes(generation)?))) {
            title.push_str(&format!(", and a {generation} has {}", short_bytes(bytes)));
        }
        self.push(format_args!(
            "<title>{}</title><desc>Memory in use over the {} instructions of a program. Parameters and results take \
             {fixed} all the time; above them are the temporaries, the largest in bands of their own.</desc>",
            escaped(&title),
            self.live.instructions()
        ));
        self.push(format_args!("<rect class='page' width='100%' height='100%'/>"));
        self.text((LEFT, 28.0), "title", &title);
        if let Some(place) = &self.peak {
            let InstructionPlace { instruction, opcode, .. } = place;
            let of = format!("instruction {} of {}", self.peak_time, self.live.instructions());
            let place = format!("{of}: {instruction} ({opcode}){}", op_name(place));
            self.text((LEFT, 48.0), "", &cut(&place, 130));
        }
    }

    /// Draws horizontal lines at round numbers of bytes, and writes round instruction numbers below the area.
    fn write_grid(&mut self) {
        // The lines are at multiples of a power of two, in bytes. The instruction numbers are multiples of 1,
        // 2 or 5 times a power of ten.
        let step = (self.top / TICKS).max(1).checked_next_power_of_two().unwrap_or(u128::MAX);
        for bytes in ticks(self.top, step) {
            let y = self.level(float(bytes));
            self.push(format_args!("<path class='grid' d='M{LEFT:.1} {y:.1}h{WIDTH:.1}'/>"));
            self.text((LEFT - 8.0, y + 4.0), "end", &short_bytes(bytes).replace(".0 ", " "));
        }
        let times = u128::from(self.live.instructions());
        let round =
            (0..39_u32).flat_map(|power| [1, 2, 5].map(|digit| 10_u128.saturating_pow(power).saturating_mul(digit)));
        let step = round.into_iter().find(|step| step.saturating_mul(TICKS) >= times).unwrap_or(1);
        for time in ticks(times, step) {
            let x = LEFT + WIDTH * float(time) / float(times.max(1));
            self.text((x, BOTTOM + 18.0), "middle", &time.to_string());
        }
        self.text((LEFT + WIDTH / 2.0, BOTTOM + 36.0), "middle", "instruction in the schedule");
    }

    /// Draws the bands: parameters and results, the largest temporaries, and all other temporaries on top.
    fn write_bands(&mut self) {
        let fixed = self.total.peak_bytes.saturating_sub(self.total.temp_bytes);
        let mut heights = vec![float(fixed); self.columns.len()];
        self.band(
            FIXED,
            &vec![0.0; heights.len()],
            &heights,
            format!("parameters and results, {}", short_bytes(fixed)),
        );
        let live = self.live.numbered_at(self.space, self.peak_time);
        let temporaries = live.iter().filter(|(_, buffer)| buffer.used_as == BufferUse::Temporary);
        for ((number, buffer), colour) in temporaries.zip(COLOURS) {
            let below = heights.clone();
            self.add(*number, float(buffer.bytes.into()), &mut heights);
            let part: String = buffer.tuple_index.iter().map(|index| format!("{{{index}}}")).collect();
            let (bytes, shape) = (short_bytes(buffer.bytes), &buffer.shape);
            let label = format!("{}{part}, {bytes}, {shape}{}", buffer.place.instruction, op_name(&buffer.place));
            self.band(colour, &below, &heights, label);
        }
        let all: Vec<f64> = self.columns.iter().map(|&(_, bytes)| float(bytes)).collect();
        self.band(OTHERS, &heights, &all, "all other temporaries".to_owned());
    }

    /// Adds a buffer's bytes to the height of each column at whose time the buffer is in use.
    fn add(&self, number: u32, bytes: f64, heights: &mut [f64]) {
        let uses = self.live.uses.iter().filter(|used| used.buffer == number);
        let uses: Vec<_> = uses.map(|used| (used.start, used.end)).collect();
        for (height, &(time, _)) in heights.iter_mut().zip(&self.columns) {
            let before = uses.partition_point(|&(start, _)| start <= time).checked_sub(1);
            if before.and_then(|at| uses.get(at)).is_some_and(|&(_, end)| time <= end) {
                *height += bytes;
            }
        }
    }

    /// Draws the area between two heights, and adds a line to the legend. An empty area only gets its line.
    fn band(&mut self, colour: &'static str, below: &[f64], above: &[f64], label: String) {
        self.legend.push((colour, label));
        if below == above {
            return;
        }
        let step = WIDTH / f64::from(u32::try_from(self.columns.len()).unwrap_or(COLUMNS).max(1));
        let first = self.level(below.first().copied().unwrap_or(0.0));
        let mut path = format!("<path fill='{colour}' d='M{LEFT:.1} {first:.1}");
        for &bytes in above {
            let _ = write!(path, "V{:.1}h{step:.3}", self.level(bytes));
        }
        for &bytes in below.iter().rev() {
            let _ = write!(path, "V{:.1}h-{step:.3}", self.level(bytes));
        }
        self.push(format_args!("{path}z'/>"));
    }

    fn mark_peak(&mut self) {
        if self.peak.is_some() {
            let x = LEFT + WIDTH * (f64::from(self.peak_time) + 0.5) / f64::from(self.live.instructions().max(1));
            self.push(format_args!("<path class='peak' d='M{x:.1} {TOP:.1}V{BOTTOM:.1}'/>"));
        }
    }

    /// Draws a line at the bytes that the compiler assigned, if they are more than the arrays in use, and a
    /// line at the capacity of the device.
    fn mark_capacity(&mut self, generation: Option<TpuGeneration>) {
        let live = self.columns.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0);
        if self.total.peak_bytes > live {
            let (y, gap) = (self.level(float(self.total.peak_bytes)), self.total.peak_bytes.saturating_sub(live));
            self.push(format_args!("<path class='peak' d='M{LEFT:.1} {y:.1}h{WIDTH:.1}'/>"));
            let label = format!("with fragmentation and alignment, {}", short_bytes(gap));
            self.text((LEFT + WIDTH, y - 5.0), "end", &label);
        }
        if let (Some(bytes), Some(generation)) = (self.capacity, generation) {
            let y = self.level(float(bytes));
            self.push(format_args!("<path class='limit' d='M{LEFT:.1} {y:.1}h{WIDTH:.1}'/>"));
            let label = format!("a {generation} has {}", short_bytes(bytes));
            self.text((LEFT + WIDTH, y - 5.0), "end", &label);
        }
    }

    fn finish(mut self) -> String {
        let mut y = BOTTOM + 64.0;
        for (colour, label) in std::mem::take(&mut self.legend) {
            let top = y - 10.0;
            self.push(format_args!("<rect x='{LEFT:.1}' y='{top:.1}' width='12' height='12' fill='{colour}'/>"));
            self.text((LEFT + 20.0, y), "", &cut(&label, 130));
            y += 20.0;
        }
        let (width, height, page) = (LEFT + WIDTH + 30.0, y + 10.0, self.page);
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{width:.0}' height='{height:.0}' viewBox='0 0 {width:.0} \
             {height:.0}'><style>{STYLE}</style>{page}</svg>\n"
        )
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string never fails.
        let _ = self.page.write_fmt(element);
    }

    fn text(&mut self, (x, y): (f64, f64), class: &str, text: &str) {
        let text = escaped(text);
        self.push(format_args!("<text x='{x:.1}' y='{y:.1}' class='{class}'>{text}</text>"));
    }
}

/// Yields 0 and every multiple of `step` up to `most`.
fn ticks(most: u128, step: u128) -> impl Iterator<Item = u128> {
    std::iter::successors(Some(0_u128), move |tick| tick.checked_add(step).filter(|&next| next <= most))
}

/// Escapes a text for XML. XML cannot express control characters, so they become blanks.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(char::is_control, " ")
}

/// Returns the operation of the source program as `, jit(f)/dot_general`. It is empty if the dump names none.
fn op_name(place: &InstructionPlace) -> String {
    place.op_name.as_deref().map(|name| format!(", {name}")).unwrap_or_default()
}

/// Returns the first `most` characters of the text. An ellipsis shows that there were more.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most).chain(['…']).collect() }
}

#[cfg(test)]
mod tests;
