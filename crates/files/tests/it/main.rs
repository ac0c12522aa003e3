//! Files through the public interface.

mod npy;
