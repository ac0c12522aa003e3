//! The arguments of `model`.

use std::path::PathBuf;

use clap::Args;
use tensor_layout_files::lay_out::{Exception, Share, Words};
use tensor_layout_text::rule::Rule;

#[derive(Args)]
pub(crate) struct Arguments {
    /// The model, a safetensors or a GGUF file, or the index of a sharded one (model.safetensors.index.json),
    /// whose parts are in the same folder. If its metadata names layouts, the tensors are read in these.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The layout every tensor gets: tpu:v5e (v2, v3, v4, v5e, v5p, v6e, v7x) as a TPU lays it out,
    /// tpu:v5e:row-major for the tiles alone, nhwc, packed, tiles such as 'T(8,128)(2,1)', an axis order or
    /// oneDNN tag such as OIhw16i16o, or the name of a layout such as tensorrt.kCHW32. Tensors of blocks
    /// (q4_0) stay packed, unless the name is one of their repacks, such as ggml.q4_0x8.
    #[arg(long, value_name = "RULE", default_value = "packed")]
    pub(crate) to: Rule,
    /// Make the outputs of a recipe instead of the tensors of the model: a text of lines such as
    /// 'qkv = cat 0 ({q,k,v}.weight | shard 0) | tpu:v5e', which crates/files/README.md describes. The layout
    /// of --to is that of the outputs whose lines end without one.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["to_for", "from_for", "overwrite"])]
    pub(crate) recipe: Option<PathBuf>,
    /// The rank whose shares `shard` of a recipe takes, and the number of ranks: 0/8 is the first of eight.
    #[arg(long, value_name = "RANK/OF", requires = "recipe")]
    pub(crate) rank: Option<String>,
    /// Print where the bytes of each output of a recipe come from: sources, layouts, copies and their plans.
    #[arg(long, requires = "recipe")]
    pub(crate) explain: bool,
    /// Another layout for tensors whose names match: 'conv*.weight=OIhw16i16o'. Patterns have *, ? and [a-z].
    /// May be given several times; of those that match, the last holds.
    #[arg(long, value_name = "PATTERN=RULE")]
    pub(crate) to_for: Vec<Exception>,
    /// What the words of tensors hold whose names match: '*.qweight=gptq.qweight_u4'. After the `=` is a
    /// name, a data type whose elements are packed (u4, f4e2m1fn), or a whole layout of as many bytes. Files
    /// of GPTQ, AWQ and compressed-tensors store words of 32 bits, MXFP4 and NVFP4 bytes.
    #[arg(long, value_name = "PATTERN=CONTENT")]
    pub(crate) from_for: Vec<Words>,
    /// Write a model to this file: the tensors in their new layout, which the metadata names. The new file is
    /// read back before it replaces another. For a sharded model, this is the new index, or a folder for the
    /// index and the parts.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The new file may be the model itself, which is replaced.
    #[arg(long, requires = "out")]
    pub(crate) overwrite: bool,
    /// Only every OF-th part of a sharded model, from part NUMBER on: '2/8' is the second of eight jobs.
    /// Parts that are there stay. The job that finds all parts writes the index.
    #[arg(long, value_name = "NUMBER/OF")]
    pub(crate) part: Option<Share>,
    /// How many parts of a sharded model are converted at once [default: the processors, at most 4].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// The limits of the device, as `check` takes them (`check --limits list` prints their names). With this
    /// option, a tensor that they refuse is a failure, and nothing is written; without it, the table says
    /// what DirectML would refuse.
    #[arg(long, value_name = "NAME")]
    pub(crate) limits: Option<String>,
    /// Every tensor of the new model begins at a multiple of this number of bytes: 64, 256, 4096 or 16384,
    /// for a file that is mapped as it is. Tensors `__fill.0`, .. that readers do not list are between them.
    #[arg(long, value_name = "BYTES", requires = "out", value_parser = ["64", "256", "4096", "16384"])]
    pub(crate) align: Option<String>,
    /// Print the totals and what is wrong, without the table.
    #[arg(long)]
    pub(crate) summary: bool,
}
