//! The picture of live memory over the schedule.

use std::fmt::Write;

use super::live::LiveMemory;
use super::report::BufferUse;

/// The drawn area, in pixels: its left and upper edge, its width and height.
const AREA: (f64, f64, f64, f64) = (90.0, 70.0, 860.0, 320.0);

/// The most columns the area is divided into: a longer schedule shows the largest moment of each column.
const COLUMNS: u32 = 860;

/// How many temporaries have a band of their own.
const BANDS: usize = 8;

const COLOURS: [&str; BANDS] = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f"];

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#222}.title{font-size:15px;font-weight:600}\
    .end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#ddd}.peak{stroke:#222;stroke-dasharray:4 3}";

impl LiveMemory<'_> {
    /// An SVG of what a memory space holds over the schedule: parameters and results at the bottom, above
    /// them the temporaries that are the largest at the peak, a band for each, and all others on top.
    ///
    /// Its size does not grow with the program's.
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
        let found = self.spaces().iter().find(|found| found.space == space);
        let total = found.map(|found| found.total).unwrap_or_default();
        let peak_time = found.and_then(|found| found.peak_time);
        let peak_bytes = float(total.peak_bytes);
        let fixed = total.peak_bytes.saturating_sub(total.temp_bytes);
        let columns = self.columns(space);
        let live = self.numbered_at(space, peak_time.unwrap_or(0));
        let temporaries = || live.iter().filter(|(_, buffer)| buffer.used_as == BufferUse::Temporary);

        let (left, top, width, height) = AREA;
        let bottom = top + height;
        let step = width / f64::from(u32::try_from(columns.len()).unwrap_or(COLUMNS).max(1));
        let level = |bytes: f64| bottom - if peak_bytes > 0.0 { bytes / peak_bytes * height } else { 0.0 };
        let mut page = String::new();
        let title = tensor_layout::tiled::memory_space_name(space).map_or_else(|| format!("S({space})"), str::to_owned);
        let title = format!("{title}: {} at the peak", short(total.peak_bytes));
        text(&mut page, (left, 28.0), "title", &title);
        let place = peak_time.and_then(|time| Some((time, self.instruction(time)?)));
        if let Some((time, place)) = &place {
            let op_name = place.op_name.as_deref().map(|name| format!(", {name}")).unwrap_or_default();
            let place = format!(
                "instruction {time} of {}: {} ({}){op_name}",
                self.instructions(),
                place.instruction,
                place.opcode
            );
            text(&mut page, (left, 48.0), "", &cut(&place, 130));
        }
        for part in 0..=4_u32 {
            let quarter = f64::from(part) / 4.0;
            let y = level(peak_bytes * quarter);
            let _ = write!(page, "<path class='grid' d='M{left:.1} {y:.1}h{width:.1}'/>");
            let bytes = total.peak_bytes.saturating_mul(part.into()) >> 2;
            text(&mut page, (left - 8.0, y + 4.0), "end", &short(bytes));
            let time = u64::from(self.instructions()).saturating_mul(part.into()) >> 2;
            text(&mut page, (left + width * quarter, bottom + 18.0), "middle", &time.to_string());
        }
        text(&mut page, (left + width / 2.0, bottom + 36.0), "middle", "instruction in the schedule");

        // What all bands so far come to, in each column.
        let mut heights = vec![float(fixed); columns.len()];
        let mut legend = vec![("#c8ccd0", format!("parameters and results, {}", short(fixed)))];
        let ground = vec![0.0; columns.len()];
        band(&mut page, "#c8ccd0", &ground, &heights, &level, step);
        for ((number, buffer), colour) in temporaries().zip(COLOURS) {
            let below = heights.clone();
            let uses = self.uses.iter().filter(|used| used.buffer == *number);
            let uses: Vec<_> = uses.map(|used| (used.start, used.end)).collect();
            for (height, &(time, _)) in heights.iter_mut().zip(&columns) {
                let before = uses.partition_point(|&(start, _)| start <= time).checked_sub(1);
                if before.and_then(|at| uses.get(at)).is_some_and(|&(_, end)| time <= end) {
                    *height += float(buffer.bytes.into());
                }
            }
            band(&mut page, colour, &below, &heights, &level, step);
            let part: String = buffer.tuple_index.iter().map(|index| format!("{{{index}}}")).collect();
            let op_name = buffer.place.op_name.as_deref().map(|name| format!(", {name}")).unwrap_or_default();
            let label = format!(
                "{}{part}, {}, {}{op_name}",
                buffer.place.instruction,
                short(buffer.bytes.into()),
                buffer.shape
            );
            legend.push((colour, label));
        }
        let all: Vec<f64> = columns.iter().map(|&(_, bytes)| float(bytes)).collect();
        band(&mut page, "#e4d5b7", &heights, &all, &level, step);
        legend.push(("#e4d5b7", "all other temporaries".to_owned()));

        if let Some((time, _)) = place {
            let x = left + width * (f64::from(time) + 0.5) / f64::from(self.instructions().max(1));
            let _ = write!(page, "<path class='peak' d='M{x:.1} {top:.1}V{bottom:.1}'/>");
        }
        let mut y = bottom + 64.0;
        for (colour, label) in legend {
            let _ = write!(page, "<rect x='{left:.1}' y='{:.1}' width='12' height='12' fill='{colour}'/>", y - 10.0);
            text(&mut page, (left + 20.0, y), "", &cut(&label, 130));
            y += 20.0;
        }
        let (width, height) = (left + width + 30.0, y + 10.0);
        format!(
            "<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0}' height='{height:.0}' viewBox='0 0 {width:.0} {height:.0}'>\
             <style>{STYLE}</style><rect width='100%' height='100%' fill='#fff'/>{page}</svg>\n"
        )
    }

    /// For each column the time in it at which the space holds the most, and the bytes.
    fn columns(&self, space: u64) -> Vec<(u32, u128)> {
        let times = self.instructions();
        let count = times.min(COLUMNS);
        let profile = self.profile(space);
        let mut steps = profile.iter().peekable();
        let (mut now, mut start) = ((0, 0), 0);
        let mut columns = Vec::new();
        for column in 0..count {
            // The first time of the next column.
            let end = u64::from(column).saturating_add(1).saturating_mul(times.into()).checked_div(count.into());
            let end = end.and_then(|end| u32::try_from(end).ok()).unwrap_or(times);
            // A column begins with what the one before it ended with, unless something changes right there.
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

/// As near as an `f64` comes.
fn float(number: u128) -> f64 {
    let piece = |shift: u32| f64::from(u32::try_from((number >> shift) & u128::from(u32::MAX)).unwrap_or(u32::MAX));
    let base = f64::from(u32::MAX) + 1.0;
    ((piece(96) * base + piece(64)) * base + piece(32)) * base + piece(0)
}

/// The area between two heights, a step for each column.
fn band(page: &mut String, colour: &str, below: &[f64], above: &[f64], level: &impl Fn(f64) -> f64, step: f64) {
    if below == above {
        return;
    }
    let mut path =
        format!("<path fill='{colour}' d='M{:.1} {:.1}", AREA.0, level(below.first().copied().unwrap_or(0.0)));
    for &bytes in above {
        let _ = write!(path, "V{:.1}h{step:.3}", level(bytes));
    }
    for &bytes in below.iter().rev() {
        let _ = write!(path, "V{:.1}h-{step:.3}", level(bytes));
    }
    page.push_str(&path);
    page.push_str("z'/>");
}

fn text(page: &mut String, (x, y): (f64, f64), class: &str, text: &str) {
    let _ = write!(page, "<text x='{x:.1}' y='{y:.1}' class='{class}'>");
    for c in text.chars() {
        match c {
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '&' => page.push_str("&amp;"),
            // XML has no words for these.
            c if c.is_control() => page.push(' '),
            c => page.push(c),
        }
    }
    page.push_str("</text>");
}

/// At most this many characters.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most { text.to_owned() } else { text.chars().take(most).chain(['…']).collect() }
}

/// `96 B`, `4.0 KiB`, `1.5 GiB`, rounded down as the command line does.
fn short(bytes: u128) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut tenths = bytes.saturating_mul(10) >> 10;
    let mut units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].into_iter().peekable();
    let mut unit = units.next();
    while tenths >= 10_240 && units.peek().is_some() {
        tenths >>= 10;
        unit = units.next();
    }
    let (whole, tenth) = (tenths.checked_div(10).unwrap_or(0), tenths.checked_rem(10).unwrap_or(0));
    format!("{whole}.{tenth} {}", unit.unwrap_or(""))
}

#[cfg(test)]
mod tests;
