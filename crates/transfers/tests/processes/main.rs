//! The processes of `examples/ranks.rs`, once, or as often as TENSOR_LAYOUT_ROUNDS says. The ranks are
//! processes of this program, so the test has no harness.

#[path = "../../examples/ranks.rs"]
mod ranks;

fn main() {
    let rounds = std::env::var("TENSOR_LAYOUT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1);
    ranks::run(rounds).expect("every rank has its bytes");
}
