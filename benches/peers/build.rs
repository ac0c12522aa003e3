//! Builds the shim of oneDNN, if the feature `onednn` is on.

fn main() {
    println!("cargo::rerun-if-changed=src/onednn.cc");
    #[cfg(feature = "onednn")]
    {
        cc::Build::new().cpp(true).std("c++17").file("src/onednn.cc").compile("onednn_shim");
        println!("cargo::rustc-link-lib=dnnl");
    }
}
