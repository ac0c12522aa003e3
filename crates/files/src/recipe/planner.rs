//! Finds the sources of each line of a recipe, and plans the outputs.
//!
//! One line may make many outputs: `{i}` in its names stands for any number, and `stack .. over {e}` joins a
//! value for each number of `{e}`. Only the model says which numbers exist, so names with letters are matched
//! against the sorted names of its tensors:
//!
//! ```text
//! for each line:
//!     match the first source inside each `over`    -> the numbers of its letter
//!     match the first source of the line           -> rows: the numbers of the output's letters
//!     for each row:
//!         fill the numbers into every name, inside an `over` once for each of its numbers
//!         all sources exist   -> an output
//!         none exists         -> no output
//!         only some exist     -> an error, because a model that is incomplete should not look whole
//! ```
//!
//! Most outputs of a line differ only in the numbers of their names. If their sources have equal layouts,
//! they have one [`Form`], which is planned once. The numbers of outputs, sources and compared names have
//! limits, so a hostile recipe or model takes bounded time.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use tensor_layout::Error;
use tensor_layout_text::ViewStep;

use super::error::{NAME_TWICE, RECIPE_LIMIT, RecipeError, SHARD_RANK, SOURCE_MISSING};
use super::expression::{Kind, Line, Shares, Step, Value as Expression, first_name};
use super::form::{Form, Plans};
use super::pattern::{Name, Numbers};
use super::plan::{Output, Plan, Settings};
use super::value::{Unit, Value};
use crate::error::printable;
use crate::{File, Tensor};

/// The most outputs of a recipe. The limits bound the time and the memory that a hostile recipe can take.
const MOST_OUTPUTS: usize = 1_000_000;
/// The most sources that all outputs of a recipe have together.
const MOST_SOURCES: usize = 1 << 22;
/// The most names of tensors that are compared with patterns.
const MOST_COMPARED: usize = 1 << 28;

/// What is known about the model while the lines are planned.
struct Planner<'p, 'f> {
    text: &'p str,
    tensors: &'p [Tensor<'f>],
    settings: &'p Settings,
    names: HashMap<&'f str, usize>,
    sorted: Vec<(&'f str, usize)>,
    /// A number for each tensor. Tensors with equal layouts have equal numbers.
    kinds: Vec<usize>,
    used: HashSet<usize>,
    forms: HashMap<(usize, Vec<usize>), Arc<Form>>,
    plans: Plans,
    compared: Cell<usize>,
    sources: usize,
    outputs: Vec<Output>,
}

/// The sources of one output: those that exist, what its form depends on, and those that do not exist.
#[derive(Default)]
struct Found {
    sources: Vec<usize>,
    form: Vec<usize>,
    /// For each `over` that is met, how many values its letter takes.
    turns: Vec<usize>,
    missing: Option<(usize, String)>,
}

pub(super) fn plan<'f>(
    text: &str,
    lines: &[Line],
    file: &'f File,
    settings: &Settings,
) -> Result<Plan<'f>, RecipeError> {
    if let Some((rank, ranks)) = settings.rank.filter(|(rank, ranks)| rank >= ranks) {
        let sentence = format!("there is no rank {rank} of {ranks}: ranks count from 0");
        return Err(RecipeError::new(text, 0, None, (SHARD_RANK, sentence)));
    }
    let tensors: Vec<Tensor<'f>> = file.tensors().collect();
    let mut numbers = HashMap::new();
    let kinds = tensors.iter().map(|tensor| {
        let next = numbers.len();
        *numbers.entry(tensor.form()).or_insert(next)
    });
    let kinds = kinds.collect();
    let named = || tensors.iter().enumerate().map(|(place, tensor)| (tensor.name(), place));
    let mut sorted: Vec<(&str, usize)> = named().collect();
    sorted.sort_unstable();
    let mut planner = Planner {
        text,
        tensors: &tensors,
        settings,
        names: named().collect(),
        sorted,
        kinds,
        used: HashSet::new(),
        forms: HashMap::new(),
        plans: Plans::default(),
        compared: Cell::new(0),
        sources: 0,
        outputs: Vec::new(),
    };
    for (number, line) in lines.iter().enumerate() {
        planner.line(number, line)?;
    }
    let Planner { used, outputs, forms, .. } = planner;
    let unused = (0..tensors.len()).filter(|place| !used.contains(place)).collect();
    let mut names: Vec<(&str, usize)> = outputs.iter().map(|output| (output.name.as_str(), output.at)).collect();
    names.sort_unstable();
    for (one, other) in names.iter().zip(names.iter().skip(1)) {
        if one.0 == other.0 {
            let first = RecipeError::new(text, one.1, None, (NAME_TWICE, String::new())).line();
            let sentence = format!("line {first} makes an output of this name too");
            return Err(RecipeError::new(text, other.1, Some(one.0), (NAME_TWICE, sentence)));
        }
    }
    let forms = forms.len();
    Ok(Plan { file, tensors, outputs, unused, forms })
}

impl Planner<'_, '_> {
    fn refuse<T>(&self, at: usize, name: &str, (code, sentence): (&'static str, String)) -> Result<T, RecipeError> {
        Err(RecipeError::new(self.text, at, Some(name), (code, sentence)))
    }

    fn line(&mut self, number: usize, line: &Line) -> Result<(), RecipeError> {
        let Some(output) = &line.output else {
            for source in (0..self.tensors.len()).filter(|place| !self.used.contains(place)).collect::<Vec<_>>() {
                let name = self.tensors.get(source).map_or("", Tensor::name).to_owned();
                let form = self.kinds.get(source).copied().into_iter().collect();
                self.output(number, line, name, Found { sources: vec![source], form, ..Found::default() })?;
            }
            return Ok(());
        };
        let Some(first) = first_name(&line.value) else { return Ok(()) };
        let over = self.over(&line.value)?;
        let rows = self.rows(output, first)?;
        let count = self.outputs.len();
        for numbers in rows {
            let (name, mut found, mut numbers) = (output.with(&numbers), Found::default(), numbers);
            self.find(&line.value, &over, &mut numbers, &mut found)?;
            match (found.missing.take(), found.sources.first().and_then(|&source| self.tensors.get(source))) {
                (None, _) => self.output(number, line, name, found)?,
                (Some((at, missing)), Some(there)) => {
                    let (missing, there) = (printable(&missing), printable(there.name()));
                    let sentence = format!("there is `{there}`, and no source `{missing}`");
                    return self.refuse(at, &name, (SOURCE_MISSING, sentence));
                }
                (Some(_), None) => {}
            }
        }
        if self.outputs.len() == count && !line.is_optional {
            let sentence = "no source has the name that the line begins with (`?=` makes a line optional)";
            return self.refuse(first.at, &first.with(&[]), (SOURCE_MISSING, sentence.into()));
        }
        Ok(())
    }

    /// The numbers of the outputs of a line, in ascending order.
    fn rows(&mut self, output: &Name, first: &Name) -> Result<BTreeSet<Numbers>, RecipeError> {
        let letters: Vec<char> = output.letters().collect();
        if letters.is_empty() {
            return Ok(BTreeSet::from([Vec::new()]));
        }
        let all = self.matches(first)?;
        let of_output = |numbers: Numbers| {
            let number = |letter: &char| numbers.iter().find(|(other, _)| other == letter).copied();
            letters.iter().filter_map(number).collect()
        };
        Ok(all.into_iter().map(of_output).collect())
    }

    /// Returns the numbers of the letters with which this name is the name of a tensor of the model.
    fn matches(&mut self, name: &Name) -> Result<Vec<Numbers>, RecipeError> {
        let prefix = name.prefix();
        let start = self.sorted.partition_point(|(other, _)| *other < prefix.as_str());
        let rest = self.sorted.get(start..).unwrap_or_default();
        let same = rest.iter().take_while(|(other, _)| other.starts_with(&prefix));
        let numbers: Vec<Numbers> = same.clone().filter_map(|(other, _)| name.numbers_in(other)).collect();
        self.compare(name, same.count())?;
        Ok(numbers)
    }

    /// Counts `more` compared names, and refuses the recipe if they are too many together.
    fn compare(&self, name: &Name, more: usize) -> Result<(), RecipeError> {
        self.compared.set(self.compared.get().saturating_add(more));
        if self.compared.get() > MOST_COMPARED {
            let sentence = format!("more than {MOST_COMPARED} names are compared");
            return self.refuse(name.at, &name.with(&[]), (RECIPE_LIMIT, sentence));
        }
        Ok(())
    }

    /// For each letter after an `over`, returns the numbers that it takes in the model. They may differ with
    /// the other letters in the name of the first source inside, so they are listed for each choice of those.
    fn over(&mut self, value: &Expression) -> Result<HashMap<char, HashMap<Numbers, Vec<u64>>>, RecipeError> {
        let (mut all, mut stack) = (HashMap::new(), vec![value]);
        while let Some(value) = stack.pop() {
            match &value.kind {
                Kind::With { both, .. } => stack.extend(both.iter()),
                Kind::Join { values, over, .. } => {
                    stack.extend(values);
                    let (Some(letter), Some(first)) = (*over, first_name(value)) else { continue };
                    let mut numbers: HashMap<Numbers, Vec<u64>> = HashMap::new();
                    for mut row in self.matches(first)? {
                        let place = row.iter().position(|(other, _)| *other == letter);
                        let Some((_, number)) = place.map(|place| row.remove(place)) else { continue };
                        row.sort_unstable();
                        numbers.entry(row).or_default().push(number);
                    }
                    numbers.values_mut().for_each(|numbers| numbers.sort_unstable());
                    // Numbers of an inner `over` repeat those of the outer one.
                    all.insert(letter, numbers);
                }
                _ => {}
            }
        }
        Ok(all)
    }

    fn find(
        &self,
        value: &Expression,
        over: &HashMap<char, HashMap<Numbers, Vec<u64>>>,
        numbers: &mut Numbers,
        found: &mut Found,
    ) -> Result<(), RecipeError> {
        match &value.kind {
            Kind::Any => Ok(()),
            Kind::With { both, .. } => both.iter().try_for_each(|value| self.find(value, over, numbers, found)),
            Kind::Name(name) => {
                let name_of = name.with(numbers);
                match self.names.get(name_of.as_str()) {
                    Some(&source) => {
                        found.sources.push(source);
                        found.form.extend(self.kinds.get(source));
                        if self.sources.saturating_add(found.sources.len()) > MOST_SOURCES {
                            let sentence = format!("the outputs have more than {MOST_SOURCES} sources together");
                            return self.refuse(name.at, &name_of, (RECIPE_LIMIT, sentence));
                        }
                    }
                    None => drop(found.missing.get_or_insert((name.at, name_of))),
                }
                Ok(())
            }
            Kind::Join { values, over: None, .. } => {
                values.iter().try_for_each(|value| self.find(value, over, numbers, found))
            }
            Kind::Join { values, over: Some(letter), .. } => {
                let Some(first) = first_name(value) else { return Ok(()) };
                let all = over.get(letter);
                let inner = |pair: &&(char, u64)| first.letters().any(|other| other == pair.0);
                let mut known: Numbers = numbers.iter().filter(inner).copied().collect();
                known.sort_unstable();
                let letters = first.letters().collect::<BTreeSet<_>>().len();
                let mut each: Vec<u64> = if known.len().saturating_add(1) == letters {
                    all.and_then(|all| all.get(&known)).cloned().unwrap_or_default()
                } else {
                    // Here the name also has letters of stacks inside this one, whose numbers are not known
                    // yet. So all rows with the known numbers count.
                    self.compare(first, all.map_or(0, HashMap::len))?;
                    let rows = all.into_iter().flatten();
                    let rows = rows.filter(|(row, _)| known.iter().all(|pair| row.contains(pair)));
                    rows.flat_map(|(_, each)| each.iter().copied()).collect()
                };
                each.sort_unstable();
                each.dedup();
                let name_at = |number| first.with(&[numbers.as_slice(), &[(*letter, number)]].concat());
                if let Some((hole, _)) = (0..).zip(&each).find(|(place, number)| place != *number) {
                    let last = each.last().copied().unwrap_or(0);
                    let sentence = format!("is missing, and `{{{letter}}}` goes up to {last}: a stack has no holes");
                    return self.refuse(first.at, &name_at(hole), (SOURCE_MISSING, sentence));
                }
                if each.is_empty() {
                    found.missing.get_or_insert_with(|| (first.at, name_at(0)));
                }
                found.form.push(each.len());
                found.turns.push(each.len());
                for number in each {
                    numbers.push((*letter, number));
                    let done = values.iter().try_for_each(|value| self.find(value, over, numbers, found));
                    numbers.pop();
                    done?;
                }
                Ok(())
            }
        }
    }

    fn output(&mut self, number: usize, line: &Line, name: String, found: Found) -> Result<(), RecipeError> {
        let Found { sources, form, turns, .. } = found;
        self.used.extend(&sources);
        self.sources = self.sources.saturating_add(sources.len());
        if self.outputs.len() == MOST_OUTPUTS {
            let sentence = format!("a recipe makes at most {MOST_OUTPUTS} outputs");
            return self.refuse(line.at, &name, (RECIPE_LIMIT, sentence));
        }
        let key = (number, form);
        let form = match self.forms.get(&key) {
            Some(form) => form.clone(),
            None => {
                let value = self.value(&line.value, &name, &mut (0, &sources), &mut turns.iter())?;
                let (at, to) = line.to.as_ref().map_or((line.value.at, None), |(at, to)| (*at, Some(to.as_str())));
                let form = Form::new(&value, to, &self.settings.to, &mut self.plans);
                let form = Arc::new(form.map_err(|error| RecipeError::of(self.text, at, &name, &error))?);
                self.forms.insert(key, form.clone());
                form
            }
        };
        self.outputs.push(Output { name, sources, form, at: line.at });
        Ok(())
    }

    /// Returns the value of an expression. Each name takes the next of the sources, and each `over` the next
    /// of the turns, from the front of their lists.
    fn value(
        &self,
        expression: &Expression,
        output: &str,
        sources: &mut (usize, &[usize]),
        turns: &mut std::slice::Iter<'_, usize>,
    ) -> Result<Value, RecipeError> {
        let at = expression.at;
        let wrong = |error: Error| RecipeError::of(self.text, at, output, &error);
        let value = match &expression.kind {
            Kind::Any | Kind::Name(_) => {
                let place = sources.0;
                sources.0 = place.saturating_add(1);
                let tensor = sources.1.get(place).and_then(|&source| self.tensors.get(source));
                let Some(tensor) = tensor else {
                    return self.refuse(at, output, (SOURCE_MISSING, "has too few sources".into()));
                };
                tensor.layout().and_then(|layout| Value::of_source(place, layout)).map_err(wrong)?
            }
            Kind::With { both, per } => {
                let [values, scales] = both.each_ref().map(|value| self.value(value, output, sources, turns));
                values?.with_scales(scales?, per).map_err(wrong)?
            }
            Kind::Join { axis, is_stack, values, over } => {
                let count = over.map_or(1, |_| turns.next().copied().unwrap_or(0));
                let mut joined = Vec::new();
                for value in std::iter::repeat_n(values, count).flatten() {
                    let value = self.value(value, output, sources, turns)?;
                    joined.push(if *is_stack { value.with_axis(*axis).map_err(wrong)? } else { value });
                }
                Value::cat(*axis, joined).map_err(wrong)?
            }
        };
        expression.steps.iter().try_fold(value, |value, (at, step)| self.step(value, *at, step, output))
    }

    fn step(&self, value: Value, at: usize, step: &Step, output: &str) -> Result<Value, RecipeError> {
        let wrong = |error: Error| RecipeError::of(self.text, at, output, &error);
        match step {
            Step::View(name, argument) => {
                let steps = ViewStep::read_all_on(name, argument, &value.sizes).map_err(wrong)?;
                steps.iter().try_fold(value, Value::step).map_err(wrong)
            }
            Step::As(name) => match Unit::read(name) {
                Ok(unit) => value.read_as(unit).map_err(wrong),
                Err(_) => value.words_as(name).map_err(wrong),
            },
            Step::Shard(axis, shares) => {
                let Some(rank) = self.settings.rank else {
                    let sentence = "`shard` needs a rank, as `--rank 0/8` gives it";
                    return self.refuse(at, output, (SHARD_RANK, sentence.into()));
                };
                let Some(&size) = value.sizes.get(*axis) else {
                    return Err(wrong(Error::axis_out_of_range(*axis, value.sizes.len())));
                };
                let range =
                    shares.of(size, rank).or_else(|sentence| self.refuse(at, output, (SHARD_RANK, sentence)))?;
                let mut slices = vec![tensor_layout::strided::Slice::ALL; value.sizes.len()];
                slices.get_mut(*axis).into_iter().for_each(|slice| *slice = range.clone().into());
                value.step(&ViewStep::Slice(slices.into())).map_err(wrong)
            }
        }
    }
}

impl Shares {
    /// Returns the indices that a rank holds of an axis of this size.
    fn of(self, size: u64, (rank, ranks): (u64, u64)) -> Result<std::ops::Range<u64>, String> {
        let chunk = |rank: u64, ranks: u64| {
            let share = size.div_ceil(ranks.max(1));
            let start = share.saturating_mul(rank).min(size);
            start..start.saturating_add(share).min(size)
        };
        match self {
            Shares::Chunks => Ok(chunk(rank, ranks)),
            Shares::Even => {
                let (share, more) = (size.checked_div(ranks).unwrap_or(0), size.checked_rem(ranks).unwrap_or(0));
                let start = |rank: u64| share.saturating_mul(rank).saturating_add(rank.min(more));
                Ok(start(rank)..start(rank.saturating_add(1)))
            }
            Shares::Of(shares) => match ranks.checked_div(shares).filter(|_| ranks.checked_rem(shares) == Some(0)) {
                Some(holders) => Ok(chunk(rank.checked_div(holders).unwrap_or(0), shares)),
                None => {
                    Err(format!("{ranks} ranks cannot hold {shares} shares: the ranks are a multiple of the shares"))
                }
            },
        }
    }
}
