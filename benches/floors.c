// What hand-written loops over registers of 32 bytes (AVX2) reach in the cases where this crate takes more than 2.5 times a copy.
//
//     cc -O3 -mavx2 -o floors benches/floors.c && ./floors
//
// Each line has the time of the loop and of the copy of as many bytes (memcpy), in nanoseconds, and their ratio. Minima of 300 batches in turns.
#define _POSIX_C_SOURCE 199309L
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef void (*loop)(const unsigned char *, unsigned char *);

// u8[224,224,3], three planes to the first three bytes of four. The fourth byte keeps its value.
static void planes_to_bgra(const unsigned char *from, unsigned char *to) {
    const __m256i kept = _mm256_set1_epi32((int)0xff000000);
    for (int i = 0; i < 224 * 224; i += 32) {
        __m256i b = _mm256_loadu_si256((const void *)(from + i));
        __m256i g = _mm256_loadu_si256((const void *)(from + 50176 + i));
        __m256i r = _mm256_loadu_si256((const void *)(from + 100352 + i));
        __m256i bg[2] = {_mm256_unpacklo_epi8(b, g), _mm256_unpackhi_epi8(b, g)};
        __m256i r0[2] = {_mm256_unpacklo_epi8(r, _mm256_setzero_si256()), _mm256_unpackhi_epi8(r, _mm256_setzero_si256())};
        __m256i out[4] = {_mm256_unpacklo_epi16(bg[0], r0[0]), _mm256_unpackhi_epi16(bg[0], r0[0]),
                          _mm256_unpacklo_epi16(bg[1], r0[1]), _mm256_unpackhi_epi16(bg[1], r0[1])};
        for (int j = 0; j < 4; j++) {
            // Registers 0 and 1, or 2 and 3, have the pixels of two lines in their lanes.
            __m256i line = _mm256_permute2x128_si256(out[j % 2 * 2], out[j % 2 * 2 + 1], j < 2 ? 0x20 : 0x31);
            __m256i *place = (void *)(to + 4 * i + 32 * j);
            _mm256_storeu_si256(place, _mm256_or_si256(line, _mm256_and_si256(_mm256_loadu_si256(place), kept)));
        }
    }
}

static inline void square(const float *from, int pitch, float *to, int other) {
    __m256 a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * pitch)), _mm_loadu_ps(from + (i + 4) * pitch), 1);
        a[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * pitch + 4)), _mm_loadu_ps(from + (i + 4) * pitch + 4), 1);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]), b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
        b[i + 2] = _mm256_unpacklo_ps(a[i + 2], a[i + 3]), b[i + 3] = _mm256_unpackhi_ps(a[i + 2], a[i + 3]);
    }
    for (int i = 0; i < 8; i += 4) {
        _mm256_storeu_ps(to + i * other, _mm256_shuffle_ps(b[i], b[i + 2], 0x44));
        _mm256_storeu_ps(to + (i + 1) * other, _mm256_shuffle_ps(b[i], b[i + 2], 0xee));
        _mm256_storeu_ps(to + (i + 2) * other, _mm256_shuffle_ps(b[i + 1], b[i + 3], 0x44));
        _mm256_storeu_ps(to + (i + 3) * other, _mm256_shuffle_ps(b[i + 1], b[i + 3], 0xee));
    }
}

// f32[32,32] transposed.
static void transpose(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 32; i += 8)
        for (int j = 0; j < 32; j += 8) square((const float *)from + 32 * i + j, 32, (float *)to + 32 * j + i, 32);
}

// f32[4000,8,8], each plane of 8 by 8 transposed.
static void planes_8x8(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 4000; i++) square((const float *)from + 64 * i, 8, (float *)to + 64 * i, 8);
}

// bf16[16,128] out of tiles (8,128)(2,1): pairs of rows that are interleaved unit by unit.
static void untile(const unsigned char *from, unsigned char *to) {
    const __m256i index = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    for (int i = 0; i < 4096; i += 512)
        for (int j = 0; j < 256; j += 32) {
            __m256i a = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)(from + i + 2 * j)), index);
            __m256i b = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)(from + i + 2 * j + 32)), index);
            _mm256_storeu_si256((void *)(to + i + j), _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8));
            _mm256_storeu_si256((void *)(to + i + j + 256), _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8));
        }
}

// u8[224,224,3], the first three bytes of four. Each store is 24 bytes and 8 more, which the next one writes again.
static void bgra_to_bgr(const unsigned char *from, unsigned char *to) {
    const __m256i index = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7);
    for (int i = 0; i < 224 * 224 / 8; i++) {
        __m256i pixels = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)(from + 32 * i)), index);
        _mm256_storeu_si256((void *)(to + 24 * i), _mm256_permutevar8x32_epi32(pixels, close));
    }
}

static double batch(loop run, const unsigned char *from, unsigned char *to, size_t bytes, int times) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (int i = 0; i < times; i++) {
        if (run) run(from, to); else memcpy(to, from, bytes);
        __asm__ volatile("" ::: "memory");
    }
    clock_gettime(CLOCK_MONOTONIC, &b);
    return ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / times;
}

int main(void) {
    struct { const char *name; loop run; size_t bytes; } cases[] = {
        {"planes_to_bgra_224", planes_to_bgra, 3 * 50176}, {"transpose_f32 (tiny)", transpose, 4096}, {"8x8_f32", planes_8x8, 4000 * 256},
        {"untile_bf16 (tiny)", untile, 4096}, {"bgra_to_rgb_224", bgra_to_bgr, 3 * 50176}};
    unsigned char *from = aligned_alloc(4096, 1 << 21), *to = aligned_alloc(4096, 1 << 21);
    for (int i = 0; i < 1 << 21; i++) from[i] = (unsigned char)(i ^ i >> 8), to[i] = 0xa5;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double best[2] = {1e18, 1e18};
        for (int i = 0; i < 300; i++)
            for (int copy = 0; copy < 2; copy++) {
                int times = (int)(1 + 2000000 / cases[c].bytes);
                double t = batch(copy ? NULL : cases[c].run, from, to, cases[c].bytes, times > 200 ? 200 : times);
                if (t < best[copy]) best[copy] = t;
            }
        printf("%s: %.0f ns, copy %.0f ns, %.2f\n", cases[c].name, best[0], best[1], best[0] / best[1]);
    }
    return 0;
}
