// A strided copy as a reorder of oneDNN, for the bench. It compiles against oneDNN 2 and 3.

#include <cstdint>
#include <dnnl.hpp>
#include <exception>

using namespace dnnl;

namespace {

struct Reorder {
    engine cpu;
    stream calls;
    memory from, to;
    reorder primitive;
};

memory::desc described(int rank, const int64_t *sizes, const int64_t *strides, int bits) {
    const auto type = bits == 8 ? memory::data_type::s8 : bits == 16 ? memory::data_type::bf16 : memory::data_type::f32;
    return memory::desc(memory::dims(sizes, sizes + rank), type, memory::dims(strides, strides + rank));
}

} // namespace

extern "C" {

// Returns a reorder of elements of 8, 16 or 32 bits, or null if oneDNN has none for these strides.
void *onednn_new(int rank, const int64_t *sizes, const int64_t *from, const int64_t *to, int bits) try {
    engine cpu(engine::kind::cpu, 0);
    memory source(described(rank, sizes, from, bits), cpu, nullptr);
    memory destination(described(rank, sizes, to, bits), cpu, nullptr);
    return new Reorder{cpu, stream(cpu), source, destination, reorder(source, destination)};
} catch (const std::exception &) {
    return nullptr;
}

// Runs a reorder over the first elements of two buffers. Returns 0, or 1 for an exception.
int onednn_run(void *made, const void *source, void *destination) try {
    auto &run = *static_cast<Reorder *>(made);
    run.from.set_data_handle(const_cast<void *>(source));
    run.to.set_data_handle(destination);
    run.primitive.execute(run.calls, run.from, run.to);
    run.calls.wait();
    return 0;
} catch (const std::exception &) {
    return 1;
}

void onednn_free(void *made) { delete static_cast<Reorder *>(made); }
}
