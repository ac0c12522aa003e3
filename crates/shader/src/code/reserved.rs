//! Words that are not allowed as names in WGSL.

/// The keywords and the reserved words of the specification (*WGSL*, keyword summary and reserved words).
const RESERVED: &str = "\
    NULL Self abstract active alias alignas alignof as asm asm_fragment async attribute auto await \
    become break case cast catch class co_await co_return co_yield coherent column_major common compile \
    compile_fragment concept const const_assert const_cast consteval constexpr constinit continue \
    continuing crate debugger decltype default delete demote demote_to_helper diagnostic discard do \
    dynamic_cast else enable enum explicit export extends extern external fallthrough false filter final \
    finally fn for friend from fxgroup get goto groupshared highp if impl implements import inline \
    instanceof interface layout let loop lowp macro macro_rules match mediump meta mod module move mut \
    mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective \
    null nullptr of operator override package packoffset partition pass patch pixelfragment precise \
    precision premerge priv protected pub public readonly ref regardless register reinterpret_cast \
    require requires resource restrict return self set shared sizeof smooth snorm static static_assert \
    static_cast std struct subroutine super switch target template this thread_local throw trait true \
    try type typedef typeid typename typeof union unless unorm unsafe unsized use using var varying \
    virtual volatile wgsl where while with writeonly yield";

/// Types and functions of the language that the printed code uses. WGSL allows these names, but a variable
/// with such a name would hide the type or function.
const USED: &str = "array bitcast bool f32 i32 min select u32 vec3 vec4 workgroupBarrier";

pub(crate) fn is_reserved(name: &str) -> bool {
    [RESERVED, USED].into_iter().flat_map(str::split_ascii_whitespace).any(|word| word == name)
}
