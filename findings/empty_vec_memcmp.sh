#!/usr/bin/env bash
# glibc 2.36 (Debian 12) and Rust: on a CPU with AVX-512, `==` of two lists that were never allocated takes 60 times as long as of two lists
# that were emptied. `Vec::new` points to address 8, and Rust calls `memcmp` also for no bytes. glibc's version for AVX-512 (`memcmp-evex`)
# loads no bytes from there under a mask of zeros, and a masked load from a page that does not exist takes a microcode assist.
#
# Seen on a Xeon with AVX-512, in nanoseconds:
#   never allocated: 95.3    emptied: 1.5
#
# Exits with 1 if the first takes less than ten times as long as the second. Without AVX-512 or Rust there is nothing to see.
set -euo pipefail
grep -qw avx512bw /proc/cpuinfo || { echo "this CPU has no AVX-512"; exit 0; }
command -v rustc > /dev/null || { echo "there is no rustc"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/main.rs" <<'RUST'
use std::hint::black_box;
use std::time::Instant;

fn nanoseconds(list: &Vec<usize>) -> f64 {
    let batch = || {
        let start = Instant::now();
        (0..1000).for_each(|_| assert!(black_box(black_box(list) == black_box(list))));
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..200).map(|_| batch()).fold(f64::MAX, f64::min)
}

fn main() {
    let (new, mut emptied) = (Vec::new(), vec![1]);
    emptied.clear();
    let times = [nanoseconds(&new), nanoseconds(&emptied)];
    println!("never allocated: {:.1}    emptied: {:.1}", times[0], times[1]);
    std::process::exit(i32::from(times[0] < 10.0 * times[1]));
}
RUST
rustc -O -o "$folder/main" "$folder/main.rs"
"$folder/main"
