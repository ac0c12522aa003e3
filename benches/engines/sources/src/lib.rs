//! Nothing: the manifest names the engines.
