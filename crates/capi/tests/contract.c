/* What every function promises: bad pointers, lengths and numbers are refused with a code, and nothing is freed twice.
 * Compiled as C11 and as C++17. */
#ifdef NDEBUG
#undef NDEBUG
#endif
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor_layout.h"

static TlError error;

static TlLayout* parse(const char* text) {
  TlLayout* layout = NULL;
  TlStatus status = tl_layout_parse(text, strlen(text), &layout, &error);
  if (status != TL_STATUS_OK) fprintf(stderr, "%s\n", error.text);
  assert(status == TL_STATUS_OK && layout != NULL);
  return layout;
}

static void refused(TlStatus status, TlStatus expected, const char* code) {
  if (status != expected || strcmp(error.code, code) != 0)
    fprintf(stderr, "status %d, %s: %s\n", (int)status, error.code, error.text);
  assert(status == expected && strcmp(error.code, code) == 0 && strlen(error.text) > 10);
}

static void sizes_and_strides(void) {
  /* DirectML's own example: 2 x 3 floats with a pitch of 5 take 32 bytes. */
  const uint64_t sizes[] = {2, 3}, strides[] = {5, 1}, large[] = {UINT64_MAX, 2};
  uint64_t bytes = 7, found[2] = {0, 0};
  assert(tl_calc_buffer_tensor_size(TL_TYPE_F32, sizes, strides, 2, &bytes, &error) == TL_STATUS_OK && bytes == 32);
  assert(tl_calc_buffer_tensor_size(TL_TYPE_F32, sizes, NULL, 2, &bytes, NULL) == TL_STATUS_OK && bytes == 24);
  bytes = 7;
  refused(tl_calc_buffer_tensor_size(0, sizes, NULL, 2, &bytes, &error), TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  refused(tl_calc_buffer_tensor_size(37, sizes, NULL, 2, &bytes, &error), TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  refused(tl_calc_buffer_tensor_size(TL_TYPE_F32, NULL, NULL, 2, &bytes, &error), TL_STATUS_INVALID_ARGUMENT,
          "bad_pointer");
  refused(tl_calc_buffer_tensor_size(TL_TYPE_F32, sizes, NULL, (size_t)1 << 40, &bytes, &error),
          TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  refused(tl_calc_buffer_tensor_size(TL_TYPE_F32, large, NULL, 2, &bytes, &error), TL_STATUS_OVERFLOW, "overflow");
  refused(tl_calc_buffer_tensor_size(TL_TYPE_F32, sizes, NULL, 2, NULL, &error), TL_STATUS_INVALID_ARGUMENT,
          "bad_pointer");
  refused(tl_calc_buffer_tensor_size(TL_TYPE_F32, (const uint64_t*)((const char*)sizes + 1), NULL, 1, &bytes, &error),
          TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  assert(bytes == 7);

  TlLayout* layout = NULL;
  assert(tl_layout_strided(TL_TYPE_F16, sizes, strides, 2, 4, &layout, &error) == TL_STATUS_OK);
  assert(tl_layout_rank(layout) == 2 && tl_layout_bytes(layout) == 24);
  assert(tl_layout_strides(layout, found, 2, &error) == TL_STATUS_OK && found[0] == 5 && found[1] == 1);
  refused(tl_layout_sizes(layout, found, 3, &error), TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  refused(tl_layout_sizes(layout, NULL, 2, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  char text[8];
  assert(tl_layout_text(layout, text, sizeof text) == strlen("f16[2,3]:[5,1]+4") && strcmp(text, "f16[2,3") == 0);
  assert(tl_layout_text(layout, NULL, 0) == 16 && tl_layout_text(NULL, text, sizeof text) == 0 && text[0] == 0);
  tl_layout_free(layout);
  tl_layout_free(NULL);

  /* The fingerprint is that of every version and language. */
  TlLayout* tiles = parse("f32[3,100]{1,0:T(8,128)}");
  uint8_t tag[16];
  assert(tl_layout_fingerprint(tiles, tag, 16, &error) == TL_STATUS_OK && tag[0] == 0x09 && tag[15] == 0x46);
  refused(tl_layout_fingerprint(tiles, tag, 8, &error), TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  refused(tl_layout_fingerprint(NULL, tag, 16, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  tl_layout_free(tiles);

  // A part that begins with its buffer.
  TlLayout* part = NULL;
  assert(tl_layout_strided(TL_TYPE_F16, sizes, strides, 2, 0, &layout, &error) == TL_STATUS_OK);
  assert(tl_layout_as_part(layout, &part, &error) == TL_STATUS_OK);
  char long_text[32];
  tl_layout_text(part, long_text, sizeof long_text);
  assert(strcmp(long_text, "f16[2,3]:[5,1]+0") == 0);
  tl_layout_free(part);
  tl_layout_free(layout);
  assert(tl_layout_parse("f32[3,5]{1,0:T(2,2)}", 20, &layout, &error) == TL_STATUS_OK);
  refused(tl_layout_as_part(layout, &part, &error), TL_STATUS_NOT_EXPRESSIBLE, "not_expressible");
  tl_layout_free(layout);
}

static void types(void) {
  /* The text of a layout begins with the name of its type. */
  const struct {
    uint32_t type;
    const char* text;
  } known[] = {{TL_TYPE_PRED, "pred[1]"},       {TL_TYPE_S4, "s4[1]"},           {TL_TYPE_S64, "s64[1]"},
               {TL_TYPE_U8, "u8[1]"},           {TL_TYPE_F16, "f16[1]"},         {TL_TYPE_BF16, "bf16[1]"},
               {TL_TYPE_F8E4M3FN, "f8e4m3fn["}, {TL_TYPE_F8E5M2, "f8e5m2[1]"},   {TL_TYPE_F8E8M0FNU, "f8e8m0fnu["},
               {TL_TYPE_C64, "c64[1]"},         {TL_TYPE_F6E3M2FN, "f6e3m2fn["}, {TL_TYPE_C128, "c128[1]"}};
  const uint64_t sizes[] = {1};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    TlLayout* layout = NULL;
    char text[32];
    assert(tl_layout_strided(known[i].type, sizes, NULL, 1, 0, &layout, &error) == TL_STATUS_OK);
    tl_layout_text(layout, text, sizeof text);
    assert(strncmp(text, known[i].text, strlen(known[i].text)) == 0);
    tl_layout_free(layout);
  }
}

static void texts(void) {
  TlLayout* layout = NULL;
  refused(tl_layout_parse("f32[2,3", 7, &layout, &error), TL_STATUS_PARSE, "parse");
  assert(error.column == 8 && layout == NULL);
  refused(tl_layout_parse("f32[\xff]", 6, &layout, &error), TL_STATUS_PARSE, "parse");
  refused(tl_layout_parse(NULL, 6, &layout, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  refused(tl_layout_parse("f32[2]", 6, NULL, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  assert(tl_layout_parse("", 0, &layout, NULL) == TL_STATUS_PARSE);
}

/* Every kind of layout is read, and an element is where the page of kinds of the command line says. */
static void kinds(void) {
  const char offset_of[] = "$ tensor-layout offset '";
  FILE* page = fopen("../cli/tests/answers/kinds.md", "r");
  char line[1024], text[1024];
  int count = 0;
  assert(page != NULL);
  while (fgets(line, sizeof line, page) != NULL) {
    if (strncmp(line, offset_of, strlen(offset_of)) != 0) continue;
    char *start = line + strlen(offset_of), *end = strchr(start, '\''), *next = end + 2;
    TlLayout* layout = NULL;
    assert(end != NULL && tl_layout_parse(start, (size_t)(end - start), &layout, &error) == TL_STATUS_OK);
    uint64_t index[8], sizes[8], offset = 0;
    size_t rank = 0;
    for (; *next >= '0' && *next <= '9' && rank < 8; next += *next == ',') index[rank++] = strtoull(next, &next, 10);
    assert(tl_layout_rank(layout) == rank && tl_layout_sizes(layout, sizes, rank, &error) == TL_STATUS_OK);
    for (size_t axis = 0; axis < rank; axis++) assert(index[axis] < sizes[axis]);
    assert(tl_layout_offset(layout, index, rank, &offset, &error) == TL_STATUS_OK);
    /* The answer begins with `value` or, for a tuple, with the number of the element. */
    assert(fgets(line, sizeof line, page) != NULL);
    for (next = line; *next < '0' || *next > '9'; next++)
      if (*next == '{') next = strchr(next, '}');
    assert(strtoull(next, NULL, 10) == offset);
    size_t length = tl_layout_text(layout, text, sizeof text);
    TlLayout* again = NULL;
    assert(tl_layout_parse(text, length, &again, &error) == TL_STATUS_OK);
    assert(tl_layout_bytes(again) == tl_layout_bytes(layout) && (tl_layout_bytes(layout) > 0 || text[0] == '('));
    tl_layout_free(again);
    tl_layout_free(layout);
    count++;
  }
  fclose(page);
  assert(count == 12);
}

static void lowering(void) {
  TlLayout *tiled = parse("f32[16,256]{1,0:T(8,128)}"), *hard = parse("f32[12,4]{1,0:T(6,2)(4,1)}"), *lowered = NULL;
  TlLowering kind;
  uint64_t found[4];
  assert(tl_lower(tiled, &kind, &lowered, &error) == TL_STATUS_OK && kind == TL_LOWERING_SPLIT);
  assert(tl_layout_rank(lowered) == 4 && tl_layout_strides(lowered, found, 4, &error) == TL_STATUS_OK);
  assert(found[0] == 2048 && found[1] == 128 && found[2] == 1024 && found[3] == 1);
  refused(tl_layout_strides(tiled, found, 2, &error), TL_STATUS_NOT_EXPRESSIBLE, "not_expressible");
  tl_layout_free(lowered);
  assert(tl_lower(hard, &kind, &lowered, &error) == TL_STATUS_OK && kind == TL_LOWERING_INDEX_MAP && lowered == NULL);
  refused(tl_lower(NULL, &kind, &lowered, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  const uint64_t index[] = {16, 0};
  uint64_t offset = 0;
  refused(tl_layout_offset(tiled, index, 2, &offset, &error), TL_STATUS_OUT_OF_RANGE, "index_out_of_range");
  tl_layout_free(tiled);
  tl_layout_free(hard);
}

static void checks(void) {
  TlLayout* layout = parse("f32[4,100]:[100,1]");
  TlReport report;
  assert(tl_validate(layout, "webgpu", 6, 4096, 256, 0, &report, &error) == TL_STATUS_OK);
  assert(report.bound_start == 256 && report.bound_end == 1856 && report.errors == 0);
  refused(tl_validate(layout, "webgpu", 6, 1024, 0, 0, &report, &error), TL_STATUS_BUFFER, "binding_outside_buffer");
  assert(report.errors == 1);
  refused(tl_validate(layout, "toaster", 7, 1024, 0, 0, NULL, &error), TL_STATUS_PARSE, "unknown_limits");
  refused(tl_validate(layout, "webgpu", 6, 4096, 0, 2, NULL, &error), TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  tl_layout_free(layout);
}

static void plans(void) {
  TlLayout *rows = parse("u8[2,3]{1,0}"), *columns = parse("u8[2,3]{0,1}"), *repeated = parse("u8[2,3]:[0,1]");
  TlPlan* plan = NULL;
  assert(tl_plan(rows, columns, TL_PADDING_KEEP, &plan, &error) == TL_STATUS_OK);
  tl_layout_free(columns);
  const uint8_t source[] = {'a', 'b', 'c', 'd', 'e', 'f'};
  uint8_t turned[7] = {0};
  assert(tl_run(plan, source, 6, turned, 6, &error) == TL_STATUS_OK && memcmp(turned, "adbecf", 7) == 0);
  refused(tl_run(plan, source, 5, turned, 6, &error), TL_STATUS_BUFFER, "buffer_too_short");
  refused(tl_run(plan, NULL, 6, turned, 6, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  refused(tl_run(plan, source, 6, NULL, 6, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  refused(tl_run(plan, source, SIZE_MAX, turned, 6, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  refused(tl_run(plan, turned, 6, turned + 1, 6, &error), TL_STATUS_OVERLAP, "shared_memory");
  refused(tl_run(NULL, source, 6, turned, 6, &error), TL_STATUS_INVALID_ARGUMENT, "bad_pointer");
  assert(tl_plan_explain(plan, NULL, 0) > 20);
  tl_plan_free(plan);
  refused(tl_plan(rows, repeated, TL_PADDING_KEEP, &plan, &error), TL_STATUS_OVERLAP, "overlapping_destination");
  refused(tl_plan(rows, rows, 2, &plan, &error), TL_STATUS_OUT_OF_RANGE, "out_of_limits");
  tl_layout_free(rows);
  tl_layout_free(repeated);
  tl_plan_free(NULL);
}

static void host_strides(void) {
  const int64_t dims[] = {2, 3}, strides[] = {3, -1}, negative[] = {-2, 3}, odd[] = {6, 3};
  TlLayout* layout = NULL;
  assert(tl_layout_byte_strides(TL_TYPE_U8, dims, 2, strides, 2, &layout, &error) == TL_STATUS_OK);
  assert(tl_layout_first_byte(layout) == 2);
  const uint64_t last[] = {1, 2};
  uint64_t offset = 0;
  assert(tl_layout_offset(layout, last, 2, &offset, &error) == TL_STATUS_OK && offset == 3);
  TlLayout* rows = parse("u8[2,3]{1,0}");
  TlPlan* plan = NULL;
  uint8_t turned[6];
  assert(tl_plan(layout, rows, TL_PADDING_KEEP, &plan, &error) == TL_STATUS_OK);
  assert(tl_run(plan, (const uint8_t*)"abcdef", 6, turned, 6, &error) == TL_STATUS_OK);
  assert(memcmp(turned, "cbafed", 6) == 0);
  tl_plan_free(plan);
  tl_layout_free(layout);
  tl_layout_free(rows);
  layout = NULL;
  refused(tl_layout_byte_strides(TL_TYPE_U8, negative, 2, NULL, 0, &layout, &error), TL_STATUS_INVALID_ARGUMENT,
          "negative");
  refused(tl_layout_byte_strides(TL_TYPE_F32, dims, 2, odd, 2, &layout, &error), TL_STATUS_NOT_EXPRESSIBLE,
          "not_expressible");
  refused(tl_layout_byte_strides(TL_TYPE_U8, dims, 2, strides, 1, &layout, &error), TL_STATUS_INVALID_ARGUMENT,
          "rank_mismatch");
  const int64_t order[] = {1, 1}, tile[] = {8};
  const size_t lengths[] = {SIZE_MAX, 2};
  refused(tl_layout_tiled(TL_TYPE_U8, dims, 2, order, 2, NULL, NULL, 0, &layout, &error), TL_STATUS_INVALID_ARGUMENT,
          "not_a_permutation");
  refused(tl_layout_tiled(TL_TYPE_U8, dims, 2, order, 2, tile, lengths, 2, &layout, &error), TL_STATUS_OUT_OF_RANGE,
          "out_of_limits");
  assert(layout == NULL);
}

/* A cache whose blocks are in two places, and values with scales. */
static void several_parts(void) {
  TlLayout *table = parse("kv:BNHC:u8[B=[1,0]/2,H=1,N=2,C=2]"), *dense = parse("u8[2,1,2,2]");
  TlPlan* plan = NULL;
  uint64_t offset = 0;
  const uint64_t second[] = {1, 0, 0, 1};
  assert(tl_layout_rank(table) == 4 && tl_layout_bytes(table) == 8);
  assert(tl_layout_offset(table, second, 4, &offset, &error) == TL_STATUS_OK && offset == 1);
  uint64_t strides[4];
  refused(tl_layout_strides(table, strides, 4, &error), TL_STATUS_NOT_EXPRESSIBLE, "not_expressible");
  refused(tl_plan(table, dense, TL_PADDING_ZERO, &plan, &error), TL_STATUS_NOT_EXPRESSIBLE, "not_expressible");
  assert(tl_plan(table, dense, TL_PADDING_KEEP, &plan, &error) == TL_STATUS_OK);
  assert(tl_plan_source_bytes(plan) == 8 && tl_plan_destination_bytes(plan) == 8);
  uint8_t found[8];
  assert(tl_run(plan, (const uint8_t*)"abcdefgh", 8, found, 8, &error) == TL_STATUS_OK);
  assert(memcmp(found, "efghabcd", 8) == 0 && tl_plan_explain(plan, NULL, 0) > 0);
  tl_plan_free(plan);
  tl_layout_free(table);
  tl_layout_free(dense);
  TlLayout* scaled = parse("f4e2m1fn[4,64] with f8e8m0fnu per 32");
  assert(tl_layout_bytes(scaled) > 128 && tl_layout_rank(scaled) == 2);
  tl_layout_free(scaled);
}

int main(void) {
  sizes_and_strides();
  types();
  texts();
  kinds();
  lowering();
  checks();
  plans();
  host_strides();
  several_parts();
  puts("every promise was kept");
  return 0;
}
