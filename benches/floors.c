// What hand-written loops over registers of 32 bytes (AVX2) reach in the cases where this crate takes more than 2.5 times a copy, and
// in rows that begin inside lines.
//
//     benches/floors.sh                  compares what each loop writes with what the command line writes, and then times the loops
//     ./floors [FOLDER]                  times the loops, or writes what each loop reads and writes into files
//
// Each line has the time of the loop and of the copy of as many bytes (memcpy), in nanoseconds, and their ratio. Minima of 300 batches in turns, or of 7 of the
// large cases. The cases are those of benches/relayout_suite.tsv and benches/relayout_frames.tsv.
#define _POSIX_C_SOURCE 199309L
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The length of either buffer.
enum { SIZE = 1 << 27 };

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

// f32[1,16,8,8], NCHW to NHWC and back: 16 rows of 64 numbers to 64 rows of 16, and back.
static inline void rows(const unsigned char *from, unsigned char *to, int m, int n) {
    for (int i = 0; i < m; i += 8)
        for (int j = 0; j < n; j += 8) square((const float *)from + n * i + j, n, (float *)to + m * j + i, m);
}
static void nchw_to_nhwc(const unsigned char *from, unsigned char *to) { rows(from, to, 16, 64); }
static void nhwc_to_nchw(const unsigned char *from, unsigned char *to) { rows(from, to, 64, 16); }

// f32[4,8,8,4], runs of 16 bytes to the transposed place: two of them in each store.
static void permute_0213(const unsigned char *from, unsigned char *to) {
    for (int n = 0; n < 4; n++, from += 1024, to += 1024)
        for (int j = 0; j < 8; j++)
            for (int i = 0; i < 8; i += 2) {
                const unsigned char *at = from + 128 * i + 16 * j;
                __m256i two = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)), _mm_loadu_si128((const void *)(at + 128)), 1);
                _mm256_storeu_si256((void *)(to + 128 * j + 16 * i), two);
            }
}

// f32[32,31], rows of 124 bytes to a pitch of 128 bytes and back. The last register of a row overlaps the one before it.
static inline void pitches(const unsigned char *from, unsigned char *to, int pitch, int other) {
    for (int i = 0; i < 32; i++, from += pitch, to += other) {
        __m256i row[4];
        for (int j = 0; j < 4; j++) row[j] = _mm256_loadu_si256((const void *)(from + (j < 3 ? 32 * j : 92)));
        for (int j = 0; j < 4; j++) _mm256_storeu_si256((void *)(to + (j < 3 ? 32 * j : 92)), row[j]);
    }
}
static void pad_rows(const unsigned char *from, unsigned char *to) { pitches(from, to, 124, 128); }
static void unpad_rows(const unsigned char *from, unsigned char *to) { pitches(from, to, 128, 124); }

// bf16[16,128] to tiles (8,128)(2,1): pairs of rows are interleaved unit by unit.
static void tile(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 4096; i += 512)
        for (int j = 0; j < 256; j += 32) {
            __m256i a = _mm256_loadu_si256((const void *)(from + i + j)), b = _mm256_loadu_si256((const void *)(from + i + j + 256));
            __m256i low = _mm256_unpacklo_epi16(a, b), high = _mm256_unpackhi_epi16(a, b);
            _mm256_storeu_si256((void *)(to + i + 2 * j), _mm256_permute2x128_si256(low, high, 0x20));
            _mm256_storeu_si256((void *)(to + i + 2 * j + 32), _mm256_permute2x128_si256(low, high, 0x31));
        }
}

// f32[4000,8,8], each plane of 8 by 8 transposed.
static void planes_8x8(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 4000; i++) square((const float *)from + 64 * i, 8, (float *)to + 64 * i, 8);
}

// f32[9000,2,7]: two rows are interleaved. The second store overwrites what is behind the plane, as the next plane does.
static void planes_2x7(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 9000; i++) {
        const float *p = (const float *)from + 14 * i;
        float *q = (float *)to + 14 * i;
        __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps(p + 7);
        __m256 low = _mm256_unpacklo_ps(a, b), high = _mm256_unpackhi_ps(a, b);
        _mm256_storeu_ps(q, _mm256_permute2f128_ps(low, high, 0x20));
        _mm256_storeu_ps(q + 8, _mm256_permute2f128_ps(low, high, 0x31));
    }
}

// f32[9000,3,5]: the second register begins with the last unit of the first.
static void planes_3x5(const unsigned char *from, unsigned char *to) {
    const __m256i x0 = _mm256_setr_epi32(0, 5, 0, 1, 6, 0, 2, 7), y0 = _mm256_setr_epi32(0, 0, 3, 0, 0, 4, 0, 0);
    const __m256i x1 = _mm256_setr_epi32(7, 0, 3, 0, 0, 4, 0, 0), y1 = _mm256_setr_epi32(0, 5, 0, 1, 6, 0, 2, 7);
    for (int i = 0; i < 9000; i++) {
        const float *p = (const float *)from + 15 * i;
        float *q = (float *)to + 15 * i;
        __m256 x = _mm256_loadu_ps(p), y = _mm256_loadu_ps(p + 7);
        _mm256_storeu_ps(q, _mm256_blend_ps(_mm256_permutevar8x32_ps(x, x0), _mm256_permutevar8x32_ps(y, y0), 0x24));
        _mm256_storeu_ps(q + 7, _mm256_blend_ps(_mm256_permutevar8x32_ps(x, x1), _mm256_permutevar8x32_ps(y, y1), 0xda));
    }
}

// f32[4000,25,2]: even and odd units, 8 of each at a time. The last 8 begin at the 17th pair.
static void planes_25x2(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 4000; i++)
        for (int j = 0; j < 4; j++) {
            int first = j < 3 ? 8 * j : 17;
            const float *p = (const float *)from + 50 * i + 2 * first;
            float *q = (float *)to + 50 * i + first;
            __m256 a = _mm256_loadu_ps(p), b = _mm256_loadu_ps(p + 8);
            __m256d even = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0x88)), odd = _mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xdd));
            _mm256_storeu_ps(q, _mm256_castpd_ps(_mm256_permute4x64_pd(even, 0xd8)));
            _mm256_storeu_ps(q + 25, _mm256_castpd_ps(_mm256_permute4x64_pd(odd, 0xd8)));
        }
}

// f64[9000,3,3]: two registers and one number.
static void planes_3x3(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 9000; i++) {
        const double *p = (const double *)from + 9 * i;
        double *q = (double *)to + 9 * i;
        __m256d x = _mm256_loadu_pd(p), y = _mm256_loadu_pd(p + 4);
        double last = p[8];
        _mm256_storeu_pd(q, _mm256_blend_pd(_mm256_permute4x64_pd(x, 0x4c), _mm256_permute4x64_pd(y, 0x20), 0x4));
        _mm256_storeu_pd(q + 4, _mm256_blend_pd(_mm256_permute4x64_pd(y, 0x4c), _mm256_permute4x64_pd(x, 0x20), 0x4));
        q[8] = last;
    }
}

// s4[256,1024], two in a byte to one in a byte, with its sign.
static void unpack_s4(const unsigned char *from, unsigned char *to) {
    const __m256i mask = _mm256_set1_epi8(15), sign = _mm256_set1_epi8(8);
    for (int i = 0; i < 131072; i += 16) {
        __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(from + i)));
        __m256i units = _mm256_and_si256(_mm256_or_si256(wide, _mm256_slli_epi16(wide, 4)), mask);
        _mm256_storeu_si256((void *)(to + 2 * i), _mm256_sub_epi8(_mm256_xor_si256(units, sign), sign));
    }
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

// u8[224,224,3], the first three bytes of four to planes.
static void bgra_to_planes(const unsigned char *from, unsigned char *to) {
    const __m256i index = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m256i close = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (int i = 0; i < 224 * 224; i += 32) {
        __m256i a[4];
        for (int j = 0; j < 4; j++) {
            __m256i pixels = _mm256_shuffle_epi8(_mm256_loadu_si256((const void *)(from + 4 * i + 32 * j)), index);
            a[j] = _mm256_permutevar8x32_epi32(pixels, close);
        }
        // Each register has 8 bytes of blue and of green in its lower lane, and of red in its upper lane.
        __m256i low[2] = {_mm256_unpacklo_epi64(a[0], a[1]), _mm256_unpacklo_epi64(a[2], a[3])};
        __m256i high[2] = {_mm256_unpackhi_epi64(a[0], a[1]), _mm256_unpackhi_epi64(a[2], a[3])};
        _mm256_storeu_si256((void *)(to + i), _mm256_permute2x128_si256(low[0], low[1], 0x20));
        _mm256_storeu_si256((void *)(to + 50176 + i), _mm256_permute2x128_si256(high[0], high[1], 0x20));
        _mm256_storeu_si256((void *)(to + 100352 + i), _mm256_permute2x128_si256(low[0], low[1], 0x31));
    }
}

// 32 rows of 16 bytes to 16 rows of 32: rows i and i + 16 are the lanes of a register.
static inline void bytes_32x16(const unsigned char *from, size_t pitch, unsigned char *to, size_t other) {
    __m256i a[16], b[16];
    for (int k = 0; k < 16; k++) {
        const unsigned char *row = from + pitch * k;
        a[k] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)row)), _mm_loadu_si128((const void *)(row + 16 * pitch)), 1);
    }
    // Four rounds: rows k and k + 8 are interleaved, which in the end makes columns of rows.
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < 8; k++) b[2 * k] = _mm256_unpacklo_epi8(a[k], a[k + 8]), b[2 * k + 1] = _mm256_unpackhi_epi8(a[k], a[k + 8]);
        memcpy(a, b, sizeof a);
    }
    for (int k = 0; k < 16; k++) _mm256_storeu_si256((void *)(to + other * k), a[k]);
}

// u8[512,512] transposed.
static void transpose_u8(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 512; i += 32)
        for (int j = 0; j < 512; j += 16) bytes_32x16(from + 512 * i + j, 512, to + 512 * j + i, 512);
}

// u4[4096,11008], words of 8 rows to the tiles of Marlin, 16 by 64: a word has the bytes of two columns 8 apart,
// from two words each, first their lower halves and then their upper halves.
static void gptq_to_marlin(const unsigned char *from, unsigned char *to) {
    const __m256i half = _mm256_set1_epi8(15);
    for (int k = 0; k < 256; k++)
        for (int n = 0; n < 172; n++, to += 512) {
            __m256i words[4][4];
            for (int j = 0; j < 4; j++) {
                __m256i low[2], high[2];
                for (int b = 0; b < 2; b++) {
                    const unsigned char *at = from + (size_t)k * 2 * 44032 + n * 256 + j * 64 + b * 32;
                    __m256i x = _mm256_loadu_si256((const void *)at), y = _mm256_loadu_si256((const void *)(at + 44032));
                    low[b] = _mm256_or_si256(_mm256_and_si256(x, half), _mm256_slli_epi16(_mm256_and_si256(y, half), 4));
                    high[b] = _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi16(x, 4), half), _mm256_andnot_si256(half, y));
                }
                __m256i l[2] = {_mm256_unpacklo_epi8(low[0], low[1]), _mm256_unpackhi_epi8(low[0], low[1])};
                __m256i h[2] = {_mm256_unpacklo_epi8(high[0], high[1]), _mm256_unpackhi_epi8(high[0], high[1])};
                for (int b = 0; b < 2; b++) {
                    words[2 * b][j] = _mm256_unpacklo_epi16(l[b], h[b]);
                    words[2 * b + 1][j] = _mm256_unpackhi_epi16(l[b], h[b]);
                }
            }
            // Each thread has four words, one of each 16 columns.
            for (int t = 0; t < 4; t++) {
                __m256i *w = words[t];
                __m256i a = _mm256_unpacklo_epi32(w[0], w[1]), b = _mm256_unpackhi_epi32(w[0], w[1]);
                __m256i c = _mm256_unpacklo_epi32(w[2], w[3]), d = _mm256_unpackhi_epi32(w[2], w[3]);
                __m256i out[4] = {_mm256_unpacklo_epi64(a, c), _mm256_unpackhi_epi64(a, c), _mm256_unpacklo_epi64(b, d), _mm256_unpackhi_epi64(b, d)};
                for (int i = 0; i < 4; i += 2) {
                    _mm256_stream_si256((void *)(to + 64 * t + 16 * i), _mm256_permute2x128_si256(out[i], out[i + 1], 0x20));
                    _mm256_stream_si256((void *)(to + 256 + 64 * t + 16 * i), _mm256_permute2x128_si256(out[i], out[i + 1], 0x31));
                }
            }
        }
    _mm_sfence();
}

// f16[8192,256], the scales of blocks of 34 bytes to those of four rows of blocks, 136 bytes apart.
static void scales(const unsigned char *from, unsigned char *to) {
    for (int i = 0; i < 8192; i += 4)
        for (int j = 0; j < 256; j++)
            for (int k = 0; k < 4; k++) memcpy(to + (size_t)i * 8704 + 136 * j + 2 * k, from + (size_t)(i + k) * 8704 + 34 * j, 2);
}

// u8[8191,8191] transposed, in panels of 32 rows by 512 columns. The rest of each side is copied byte by byte.
static void transpose_8191(const unsigned char *from, unsigned char *to) {
    enum { N = 8191 };
    for (int j0 = 0; j0 < N; j0 += 512)
        for (int i = 0; i < N; i += 32)
            for (int j = j0; j < j0 + 512 && j < N; j += 16) {
                if (i + 32 <= N && j + 16 <= N) bytes_32x16(from + (size_t)N * i + j, N, to + (size_t)N * j + i, N);
                else for (int k = i; k < i + 32 && k < N; k++) for (int l = j; l < j + 16 && l < N; l++) to[(size_t)N * l + k] = from[(size_t)N * k + l];
            }
}

// f32[n,n,5] and f32[n,n,25], runs of 20 and of 100 bytes to the transposed place, 16 rows at a time.
static inline void swap(const unsigned char *from, unsigned char *to, size_t n, size_t run) {
    for (size_t i = 0; i < n; i += 16)
        for (size_t j = 0; j < n; j++)
            for (size_t k = i; k < i + 16 && k < n; k++) memcpy(to + (j * n + k) * run, from + (k * n + j) * run, run);
}
static void swap_20(const unsigned char *from, unsigned char *to) { swap(from, to, 1501, 20); }
static void swap_100(const unsigned char *from, unsigned char *to) { swap(from, to, 1001, 100); }

// f32[16,17,300,300], planes to pixels: two squares and one number.
static void planes_to_17(const unsigned char *from, unsigned char *to) {
    for (int n = 0; n < 16; n++)
        for (int i = 0; i < 90000; i += 8) {
            const float *a = (const float *)from + (size_t)n * 17 * 90000 + i;
            float *b = (float *)to + ((size_t)n * 90000 + i) * 17;
            square(a, 90000, b, 17), square(a + 8 * 90000, 90000, b + 8, 17);
            for (int k = 0; k < 8; k++) b[17 * k + 16] = a[16 * 90000 + k];
        }
}

// f64[256,256,256] with its axes in reverse order: squares of 4 by 4, one line of each row at a time.
static void reverse_f64(const unsigned char *from, unsigned char *to) {
    for (size_t j = 0; j < 256; j++)
        for (size_t i = 0; i < 256; i += 8)
            for (size_t k = 0; k < 256; k += 4)
                for (size_t h = i; h < i + 8; h += 4) {
                    const double *a = (const double *)from + h * 65536 + j * 256 + k;
                    double *b = (double *)to + k * 65536 + j * 256 + h;
                    __m256d r[4], s[4];
                    for (int l = 0; l < 4; l++) r[l] = _mm256_loadu_pd(a + l * 65536);
                    for (int l = 0; l < 2; l++) s[2 * l] = _mm256_unpacklo_pd(r[2 * l], r[2 * l + 1]), s[2 * l + 1] = _mm256_unpackhi_pd(r[2 * l], r[2 * l + 1]);
                    for (int l = 0; l < 2; l++) {
                        _mm256_storeu_pd(b + l * 65536, _mm256_permute2f128_pd(s[l], s[l + 2], 0x20));
                        _mm256_storeu_pd(b + (l + 2) * 65536, _mm256_permute2f128_pd(s[l], s[l + 2], 0x31));
                    }
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

// Writes bytes to the file FOLDER/PART, whose name is the case's with dots.
static void put(const char *folder, const char *name, const char *part, const unsigned char *bytes, size_t count) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, part);
    for (char *c = path + strlen(folder) + 1; *c; c++) if (*c == '/') *c = '.';
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file)) perror(path), exit(1);
}

int main(int arguments, char **argument) {
    // The bytes that are copied, and the lengths of the two buffers if they are longer.
    struct { const char *name; loop run; size_t bytes, from, to; } cases[] = {
        {"frames/planes_to_bgra_224", planes_to_bgra, 3 * 50176, 0, 4 * 50176 - 1}, {"frames/bgra_to_rgb_224", bgra_to_bgr, 3 * 50176, 4 * 50176 - 1, 0},
        {"frames/bgra_to_planes_224", bgra_to_planes, 3 * 50176, 4 * 50176 - 1, 0}, {"planes/8x8_f32", planes_8x8, 4000 * 256, 0, 0},
        {"planes/2x7_f32", planes_2x7, 9000 * 56, 0, 0}, {"planes/3x5_f32", planes_3x5, 9000 * 60, 0, 0}, {"planes/25x2_f32", planes_25x2, 4000 * 200, 0, 0},
        {"planes/3x3_f64", planes_3x3, 9000 * 72, 0, 0}, {"small/unpack_s4", unpack_s4, 196608, 131072, 262144},
        {"tiny/nchw_to_nhwc_f32", nchw_to_nhwc, 4096, 0, 0}, {"tiny/nhwc_to_nchw_f32", nhwc_to_nchw, 4096, 0, 0}, {"tiny/transpose_f32", transpose, 4096, 0, 0},
        {"tiny/permute_0213_f32", permute_0213, 4096, 0, 0}, {"tiny/pad_rows_f32", pad_rows, 3968, 0, 4092}, {"tiny/unpad_rows_f32", unpad_rows, 3968, 4092, 0},
        {"tiny/tile_bf16", tile, 4096, 0, 0}, {"tiny/untile_bf16", untile, 4096, 0, 0}, {"small/transpose_u8", transpose_u8, 1 << 18, 0, 0},
        {"named/gptq_to_marlin_u4", gptq_to_marlin, 4096 * 11008 / 2, 0, 0}, {"named/q8_0_to_q8_0x4_scales", scales, 2 * 8192 * 256, 8192 * 8704 - 32, 8192 * 8704 - 128},
        {"unaligned/transpose_u8_8191", transpose_8191, 8191 * 8191, 0, 0}, {"unaligned/swap_runs_of_20_bytes", swap_20, 1501 * 1501 * 20, 0, 0},
        {"unaligned/swap_runs_of_100_bytes", swap_100, 1001 * 1001 * 100, 0, 0}, {"unaligned/nchw_to_nhwc_f32_c17", planes_to_17, 16 * 17 * 90000 * 4, 0, 0},
        {"large/reverse_3d_f64", reverse_f64, 1 << 27, 0, 0}};
    unsigned char *from = aligned_alloc(4096, SIZE), *to = aligned_alloc(4096, SIZE);
    for (unsigned i = 0; i < SIZE; i++) from[i] = (unsigned char)(i * 2654435761u >> 24), to[i] = 0;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (arguments > 1) {
            memset(to, 0, SIZE);
            cases[c].run(from, to);
            put(argument[1], cases[c].name, "from", from, cases[c].from ? cases[c].from : cases[c].bytes);
            put(argument[1], cases[c].name, "to", to, cases[c].to ? cases[c].to : cases[c].bytes);
            continue;
        }
        double best[2] = {1e18, 1e18};
        for (int i = 0; i < (cases[c].bytes > 1 << 21 ? 7 : 300); i++)
            for (int copy = 0; copy < 2; copy++) {
                int times = (int)(1 + 2000000 / cases[c].bytes);
                double t = batch(copy ? NULL : cases[c].run, from, to, cases[c].bytes, times > 200 ? 200 : times);
                if (t < best[copy]) best[copy] = t;
            }
        printf("%s: %.0f ns, copy %.0f ns, %.2f\n", cases[c].name, best[0], best[1], best[0] / best[1]);
    }
    return 0;
}
