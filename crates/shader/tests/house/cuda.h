// What CUDA C++ has beside C++, enough to run kernels on a CPU: the threads of a block are fibres, which go on to the
// next barrier one after the other.
#include <cstring>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <functional>
#include <ucontext.h>

struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
static uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
static uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
static unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static float __uint_as_float(unsigned bits) { float value; memcpy(&value, &bits, 4); return value; }
static unsigned __float_as_uint(float value) { unsigned bits; memcpy(&bits, &value, 4); return bits; }
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)

struct Index { unsigned x, y, z; };
static Index blockIdx, threadIdx;
static std::function<void()> kernel;
static ucontext_t scheduler;
static std::vector<ucontext_t> fibres;
static std::vector<bool> ended;
static std::vector<char> stacks;
static void __syncthreads() { swapcontext(&fibres[threadIdx.x], &scheduler); }
static void fibre() { kernel(); ended[threadIdx.x] = true; }

static void launch(Index blocks, unsigned threads, std::function<void()> body) {
    const size_t stack = 32 << 10;
    kernel = body;
    stacks.resize(stack * threads);
    fibres.resize(threads);
    for (unsigned z = 0; z < blocks.z; z++) for (unsigned y = 0; y < blocks.y; y++) for (unsigned x = 0; x < blocks.x; x++) {
        blockIdx = {x, y, z};
        ended.assign(threads, false);
        for (unsigned i = 0; i < threads; i++) {
            getcontext(&fibres[i]);
            fibres[i].uc_stack.ss_sp = &stacks[stack * i];
            fibres[i].uc_stack.ss_size = stack;
            fibres[i].uc_link = &scheduler;
            makecontext(&fibres[i], fibre, 0);
        }
        for (bool left = true; left;) {
            left = false;
            for (unsigned i = 0; i < threads; i++) {
                if (ended[i]) continue;
                threadIdx = {i, 0, 0};
                swapcontext(&scheduler, &fibres[i]);
                left |= !ended[i];
            }
        }
    }
}

// A pointer to whatever a parameter is a pointer to.
struct Pointer {
    void* at;
    template <typename T> operator T*() const { return (T*)at; }
};

static std::vector<unsigned char> file(const char* name) {
    std::vector<unsigned char> bytes;
    FILE* from = fopen(name, "rb");
    if (!from) { perror(name); exit(2); }
    fseek(from, 0, SEEK_END);
    bytes.resize(ftell(from));
    rewind(from);
    if (fread(bytes.data(), 1, bytes.size(), from) != bytes.size()) { perror(name); exit(2); }
    fclose(from);
    return bytes;
}
