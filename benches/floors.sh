#!/usr/bin/env bash
# Compares what each loop of floors.c writes with what the command line writes for the same layouts, and then times the loops.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -O3 -mavx2 -o "$folder/floors" benches/floors.c
mkdir "$folder/files"
"$folder/floors" "$folder/files"
program=${TENSOR_LAYOUT:-target/release/tensor-layout}
[ -x "$program" ] || cargo build --release -p tensor-layout-cli
for file in "$folder"/files/*.to; do
    name=$(basename "$file" .to)
    IFS=$'\t' read -r from to < <(awk -F'\t' -v name="$name" '$1 "." $2 == name {print $3 "\t" $4}' benches/relayout_suite.tsv benches/relayout_frames.tsv)
    "$program" convert --from "$from" --to "$to" "${file%.to}.from" "$folder/ours"
    cmp "$file" "$folder/ours"
    rm "$file" "${file%.to}.from" "$folder/ours"
done
"$folder/floors"
