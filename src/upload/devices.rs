//! Named sets of limits, and limits by name: the rows of `devices.txt`, the names of the fields, and the
//! names that APIs have for them.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::str::FromStr;

use crate::error::{Code, Error};

use super::feature_level::FeatureLevel;
use super::limits::{DeviceLimits, read_size};

const TABLE: &str = include_str!("devices.txt");

/// The name of a row that is no device: it has the rules that interfaces for tensors have in common, and
/// other rows begin with it.
const COMMON: &str = "in-order";

/// A row of the table: name, title, the set that it begins with, fields, names of fields in the API.
type Row = [&'static str; 5];

fn rows() -> impl Iterator<Item = Row> {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let mut cells = line.split('|').map(str::trim);
        core::array::from_fn(|_| cells.next().unwrap_or(""))
    })
}

pub(super) fn named(name: &str) -> Result<DeviceLimits, Error> {
    if let Some(level) = name.strip_prefix("directml:") {
        return Ok(DeviceLimits::directml_level(level.parse::<FeatureLevel>()?));
    }
    let row = rows().find(|row| row[0] == name).ok_or_else(|| unknown_limits(name))?;
    let [_, title, from, fields, _] = row;
    let mut limits = if from == name { DeviceLimits::none() } else { named(from)? };
    for change in fields.split_whitespace() {
        let (field, value) = change.split_once('=').unwrap_or((change, ""));
        limits = limits.with(field, value)?;
    }
    Ok(DeviceLimits { name: Cow::Borrowed(title), ..limits })
}

/// Returns the named limits, or none. A test reads every row.
pub(super) fn named_or_none(name: &str) -> DeviceLimits {
    named(name).unwrap_or_else(|_| DeviceLimits::none())
}

pub(super) fn unknown_limits(name: &str) -> Error {
    let names = DeviceLimits::names().collect::<Vec<_>>().join(", ");
    let reason = format!(
        "names no limits: expected {names} or directml:LEVEL (1.0 to 6.4), perhaps with limits of your own after it, as in \
         webgpu:max_binding=2GiB"
    );
    Code::UnknownLimits.with_reason(name.to_owned(), reason)
}

fn aliases(cell: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    cell.split_whitespace().filter_map(|pair| pair.split_once('='))
}

impl DeviceLimits {
    /// Returns the limits of DirectML at the latest feature level.
    #[must_use]
    pub fn directml() -> DeviceLimits {
        named_or_none("directml")
    }

    /// Returns the limits of DirectML at this feature level. Single operators may accept fewer ranks and
    /// types.
    #[must_use]
    pub fn directml_level(level: FeatureLevel) -> DeviceLimits {
        let (min_rank, max_rank) = level.ranks();
        let data_types = Some(Cow::Borrowed(level.data_types()));
        DeviceLimits { name: level.limits_name().into(), min_rank, max_rank, data_types, ..Self::directml() }
    }

    /// Returns the default limits of WebGPU, which every adapter has.
    #[must_use]
    pub fn webgpu() -> DeviceLimits {
        named_or_none("webgpu")
    }

    /// The names of the sets of limits that can be read. `directml` stands for the latest feature level.
    pub fn names() -> impl Iterator<Item = &'static str> {
        rows().map(|row| row[0]).filter(|&name| name != COMMON)
    }

    /// Returns these limits with one field changed. The field has its name here or in its API
    /// (`maxStorageBufferBindingSize`). The value is a text: a number of bytes or elements (4096, 4MiB),
    /// `true` or `false`, types (`f32+f16`), or for stricter types `u4+s4:2:16:16` (the multiples of the last
    /// size, of strides and of offsets).
    ///
    /// # Errors
    ///
    /// `unknown_limits` for another name. `parse` if the value cannot be read.
    ///
    /// ```
    /// let limits = tensor_layout::DeviceLimits::webgpu().with("maxBufferSize", "2GiB")?.with("one_usage", "false")?;
    /// assert_eq!((limits.max_buffer, limits.one_usage), (2 << 30, false));
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn with(mut self, field: &str, value: &str) -> Result<DeviceLimits, Error> {
        if let Some(set) = self.set(field, value) {
            return set.map(|()| self);
        }
        let alias = rows().flat_map(|row| aliases(row[4])).find(|(name, _)| *name == field);
        let (_, field) = alias.ok_or_else(|| {
            let reason = format!("is no limit that can be set by name: expected one of {}", Self::FIELDS.join(", "));
            Code::UnknownLimits.with_reason(field.to_owned(), reason)
        })?;
        match field.strip_suffix("/8") {
            Some(field) => self.with(field, &format!("{}", read_size(value)?.div_ceil(8))),
            None => field.split('+').try_fold(self, |limits, field| limits.with(field, value)),
        }
    }

    /// Returns the limits of the API that has the most of these names, with its numbers set to those of the
    /// device at hand, such as all of WebGPU's `adapter.limits`. The second value lists the names that say
    /// nothing about tensors in buffers.
    ///
    /// # Errors
    ///
    /// `unknown_limits` if no API has any of the names.
    ///
    /// ```
    /// use tensor_layout::DeviceLimits;
    ///
    /// let adapter = [("maxTextureDimension2D", 8192), ("maxBufferSize", 1 << 32), ("minStorageBufferOffsetAlignment", 32)];
    /// let (limits, ignored) = DeviceLimits::reported(adapter)?;
    /// assert_eq!((limits.max_buffer, limits.offset_alignment, limits.one_usage), (1 << 32, 32, true));
    /// assert_eq!(ignored, ["maxTextureDimension2D"]);
    /// # Ok::<(), tensor_layout::Error>(())
    /// ```
    pub fn reported<N: AsRef<str>>(
        numbers: impl IntoIterator<Item = (N, u64)>,
    ) -> Result<(DeviceLimits, Vec<String>), Error> {
        let numbers: Vec<(N, u64)> = numbers.into_iter().collect();
        let known = |row: &Row, name: &str| aliases(row[4]).any(|(alias, _)| alias == name);
        let count = |row: &Row| numbers.iter().filter(|(name, _)| known(row, name.as_ref())).count();
        let best = rows().min_by_key(|row| Reverse(count(row))).filter(|row| count(row) > 0);
        let row = best.ok_or_else(|| unknown_limits("a list of numbers of a device"))?;
        let (mut limits, mut ignored) = (named(row[0])?, Vec::new());
        for (name, number) in &numbers {
            if known(&row, name.as_ref()) {
                limits = limits.with(name.as_ref(), &format!("{number}"))?;
            } else {
                ignored.push(name.as_ref().to_owned());
            }
        }
        limits.name = format!("{}, as reported", limits.name).into();
        Ok((limits, ignored))
    }
}

/// Reads a named set, and changes to it: `directml`, `directml:5.0`,
/// `webgpu:max_binding=2GiB,max_buffer=4GiB`. The message of `unknown_limits` lists the names. The sets, and
/// where their numbers come from:
///
/// ```text
#[doc = include_str!("devices.txt")]
/// ```
impl FromStr for DeviceLimits {
    type Err = Error;

    fn from_str(text: &str) -> Result<DeviceLimits, Error> {
        let public = |name: &str| if name == COMMON { Err(unknown_limits(name)) } else { named(name) };
        let changes = text.find('=').and_then(|equals| text.get(..equals)).and_then(|start| start.rfind(':'));
        let Some((name, changes)) = changes.and_then(|colon| text.split_at_checked(colon)) else { return public(text) };
        let mut limits = public(name)?;
        for change in changes.trim_start_matches(':').split(',') {
            let (field, value) = change.split_once('=').unwrap_or((change, ""));
            limits = limits.with(field, value)?;
        }
        limits.check()?;
        Ok(DeviceLimits { name: text.to_owned().into(), ..limits })
    }
}

impl FromStr for FeatureLevel {
    type Err = Error;

    /// Reads `5.0`, or `5_0` as in the names of the header.
    fn from_str(text: &str) -> Result<Self, Error> {
        let dotted = text.replace('_', ".");
        let found = Self::ALL.iter().copied().find(|level| level.to_string() == dotted);
        found.ok_or_else(|| unknown_limits(&format!("directml:{text}")))
    }
}

/// Finds the level with this value of `DML_FEATURE_LEVEL`, as a device reports it.
impl TryFrom<u32> for FeatureLevel {
    type Error = Error;

    fn try_from(value: u32) -> Result<FeatureLevel, Error> {
        let found = Self::ALL.iter().copied().find(|&level| u32::from(level) == value);
        found.ok_or_else(|| unknown_limits(&format!("directml:{value:#x}")))
    }
}
