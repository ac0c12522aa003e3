//! serde for the results of checks: errors, warnings, reports.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;

use ::serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::element::DataType;
use crate::error::Error;
use crate::strided::IndexWidth;
use crate::upload::{Errors, UploadReport, Warning};

/// An error or a warning: a code for programs, a sentence for people, and the numbers of the broken rule.
#[derive(::serde::Serialize)]
struct Finding {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    axis: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
}

impl Serialize for Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (code, message) = (self.code(), self.to_string());
        Finding { code, message, axis: self.axis(), value: self.value(), limit: self.limit() }.serialize(serializer)
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (code, message) = (self.code(), self.to_string());
        Finding { code, message, axis: None, value: None, limit: None }.serialize(serializer)
    }
}

/// The fields of [`UploadReport`], as they are written. A field that is missing here is a compile error.
#[derive(::serde::Serialize)]
#[serde(remote = "UploadReport")]
struct ReportFields {
    limits: Cow<'static, str>,
    data_type: DataType,
    element_count: u64,
    span_elements: u64,
    exact_bits: u128,
    exact_bytes: u64,
    rounded_bytes: u64,
    total_bytes: u64,
    cpu_bytes: u64,
    padding: Range<u64>,
    bound: Range<u64>,
    gap_bits: u128,
    overwrites_gaps: bool,
    zero_padding: bool,
    alignment_required: u64,
    alignment_found: Option<u64>,
    index_width: IndexWidth,
    byte_index_width: IndexWidth,
    base_offset: u64,
    warnings: Vec<Warning>,
    copies: u64,
}

impl Serialize for UploadReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ReportFields::serialize(self, serializer)
    }
}

/// The value is written as a map with the list of errors and the report.
impl Serialize for Errors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Errors", 2)?;
        fields.serialize_field("errors", &**self)?;
        fields.serialize_field("report", &*self.report)?;
        fields.end()
    }
}
