//! Sentences about command lines that cannot be read. They name the mistake.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use tensor_layout::Error as Refusal;

/// Returns the sentence that replaces the message of clap. `None` for the help and the version, which are no
/// mistakes.
pub(crate) fn sentence(error: &Error) -> Option<String> {
    use std::error::Error as _;
    let value = |kind: ContextKind| error.get(kind);
    let one = |kind| match value(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    };
    // In sentences, the option `--limits <NAME>` is called --limits, and the argument `<LAYOUT>` is called
    // LAYOUT.
    let name = |text: &str| match text.split_once(' ') {
        Some((option, _)) if text.starts_with('-') => option.to_owned(),
        _ => text.trim_matches(['<', '>', '.', '[', ']']).to_owned(),
    };
    let nearest = |kind| match one(kind) {
        nearest if nearest.is_empty() => String::new(),
        nearest => format!("; the nearest is {nearest}"),
    };
    let (argument, given) = (name(&one(ContextKind::InvalidArg)), one(ContextKind::InvalidValue));
    let words = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => return None,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => return None,
        ErrorKind::UnknownArgument if !argument.starts_with('-') => {
            let argument = one(ContextKind::InvalidArg);
            format!("`{argument}` is one argument too many. A layout with blanks or brackets needs quotes.")
        }
        ErrorKind::UnknownArgument => {
            format!("there is no option {argument}{}", nearest(ContextKind::SuggestedArg))
        }
        ErrorKind::InvalidSubcommand => {
            let command = one(ContextKind::InvalidSubcommand);
            format!("there is no command `{command}`{}", nearest(ContextKind::SuggestedSubcommand))
        }
        ErrorKind::InvalidValue if given.is_empty() => {
            let what = one(ContextKind::InvalidArg);
            format!("{argument} needs a value: {}", what.strip_prefix(&argument).unwrap_or(&what).trim())
        }
        ErrorKind::InvalidValue => {
            let words = one(ContextKind::ValidValue);
            let words = words.rsplit_once(", ").map_or(words.clone(), |(first, last)| format!("{first} or {last}"));
            format!("{argument}: expected {words}, found `{given}`")
        }
        ErrorKind::ValueValidation => {
            let reason = match error.source().and_then(|source| source.downcast_ref::<Refusal>()) {
                // A column of 1 says nothing, because the sentence already shows the start of the value.
                Some(refusal) if refusal.column() == Some(1) => {
                    format!("expected {}, found {}", refusal.expected(), refusal.found())
                }
                _ => error.source().map(ToString::to_string).unwrap_or_default(),
            };
            if reason.contains(&given) {
                format!("{argument}: {reason}")
            } else {
                format!("{argument} {given}: {reason}")
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = match value(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(names)) => names.iter().map(|text| name(text)).collect::<Vec<_>>(),
                _ => Vec::new(),
            };
            match missing.as_slice() {
                [group] if group.contains('|') => format!("one of {} is missing", group.replace('|', ", ")),
                names => format!("{} {} missing", names.join(" and "), if names.len() == 1 { "is" } else { "are" }),
            }
        }
        ErrorKind::ArgumentConflict if one(ContextKind::PriorArg) == one(ContextKind::InvalidArg) => {
            format!("{argument} is given twice")
        }
        ErrorKind::ArgumentConflict => {
            format!("{argument} and {} exclude each other", name(&one(ContextKind::PriorArg)))
        }
        _ => error.to_string().trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned(),
    };
    let usage = value(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    Some(if usage.is_empty() { words } else { format!("{words}\n\n{}", usage.trim_end()) })
}

/// Returns the layout that the shell has expanded, if it has: `f32[2,3]{1,0}` without quotes arrives as
/// `f32[2,3]1 f32[2,3]0`.
pub(crate) fn expanded_braces(words: &[String]) -> Option<String> {
    let parts = |word: &String| -> Option<(String, String)> {
        let (before, after) = word.rsplit_once(']')?;
        let is_number = !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit());
        (is_number && before.contains('[')).then(|| (format!("{before}]"), after.to_owned()))
    };
    words.iter().enumerate().find_map(|(place, word)| {
        let (layout, _) = parts(word)?;
        let same = words.iter().skip(place).map_while(parts).take_while(|(other, _)| *other == layout);
        let numbers: Vec<String> = same.map(|(_, number)| number).collect();
        (numbers.len() > 1).then(|| format!("{layout}{{{}}}", numbers.join(",")))
    })
}

#[cfg(test)]
mod tests;
