/* How a PJRT plug-in can take a host buffer with byte strides into tiled device memory, and give it back.
 *
 * PJRT hands `PJRT_Client_BufferFromHostBuffer` a pointer to index 0, sizes, byte strides of either sign (or none for
 * row-major), and the layout that the device buffer gets. `PJRT_Buffer_ToHostBuffer` asks for the way back. The
 * structures below have the fields of pjrt_c_api.h that matter here, under the same names. "Device memory" is malloc.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor_layout.h"

typedef struct {
  const int64_t* minor_to_major;
  size_t minor_to_major_size;
  const int64_t* tile_dims;
  const size_t* tile_dim_sizes;
  size_t num_tiles;
} MemoryLayoutTiled;

/* A buffer on the device: its memory, and where its elements are. */
typedef struct {
  TlType type;
  TlLayout* layout;
  uint8_t* memory;
  size_t bytes;
} Buffer;

static void buffer_destroy(Buffer* buffer) {
  tl_layout_free(buffer->layout);
  free(buffer->memory);
  *buffer = (Buffer){0};
}

/* BufferFromHostBuffer: byte strides in, tiled layout out. */
static TlStatus buffer_from_host_buffer(TlType type, const void* data, const int64_t* dims, size_t num_dims,
                                        const int64_t* byte_strides, size_t num_byte_strides,
                                        const MemoryLayoutTiled* device, Buffer* buffer, TlError* error) {
  TlLayout* host = NULL;
  TlPlan* plan = NULL;
  *buffer = (Buffer){.type = type};
  TlStatus status = tl_layout_byte_strides(type, dims, num_dims, byte_strides, num_byte_strides, &host, error);
  if (status == TL_STATUS_OK)
    status = tl_layout_tiled(type, dims, num_dims, device->minor_to_major, device->minor_to_major_size,
                             device->tile_dims, device->tile_dim_sizes, device->num_tiles, &buffer->layout, error);
  if (status == TL_STATUS_OK) status = tl_plan(host, buffer->layout, TL_PADDING_ZERO, &plan, error);
  if (status == TL_STATUS_OK) {
    buffer->bytes = (size_t)tl_plan_destination_bytes(plan);
    buffer->memory = malloc(buffer->bytes ? buffer->bytes : 1);
    if (buffer->memory == NULL) abort();
    /* `data` points to index 0: with a negative stride, that is not where the memory begins. */
    const uint8_t* lowest = (const uint8_t*)data - tl_layout_first_byte(host);
    status = tl_run(plan, lowest, (size_t)tl_plan_source_bytes(plan), buffer->memory, buffer->bytes, error);
  }
  tl_plan_free(plan);
  tl_layout_free(host);
  if (status != TL_STATUS_OK) buffer_destroy(buffer);
  return status;
}

/* ToHostBuffer: row-major. With `dst` null, how large it must be; PJRT asks so too. */
static TlStatus buffer_to_host_buffer(const Buffer* buffer, void* dst, size_t* dst_size, TlError* error) {
  uint64_t sizes[16];
  size_t rank = tl_layout_rank(buffer->layout);
  TlLayout* host = NULL;
  TlPlan* plan = NULL;
  TlStatus status = rank > 16 ? TL_STATUS_OUT_OF_RANGE : tl_layout_sizes(buffer->layout, sizes, rank, error);
  if (status == TL_STATUS_OK) status = tl_layout_strided(buffer->type, sizes, NULL, rank, 0, &host, error);
  if (status == TL_STATUS_OK && dst == NULL) {
    *dst_size = (size_t)tl_layout_bytes(host);
  } else if (status == TL_STATUS_OK) {
    status = tl_plan(buffer->layout, host, TL_PADDING_KEEP, &plan, error);
    if (status == TL_STATUS_OK) status = tl_run(plan, buffer->memory, buffer->bytes, dst, *dst_size, error);
  }
  tl_plan_free(plan);
  tl_layout_free(host);
  return status;
}

static void check(TlStatus status, const TlError* error) {
  if (status == TL_STATUS_OK) return;
  fprintf(stderr, "%s: %s\n", error->code, error->text);
  exit(1);
}

int main(void) {
  /* A transposed view of 500 rows of 300 that is walked backwards along its last axis, as NumPy's a.T[:, ::-1]. */
  enum { ROWS = 300, COLUMNS = 500 };
  uint16_t* numbers = malloc(sizeof(uint16_t) * ROWS * COLUMNS);
  uint16_t* back = malloc(sizeof(uint16_t) * ROWS * COLUMNS);
  if (numbers == NULL || back == NULL) return 1;
  for (size_t i = 0; i < (size_t)ROWS * COLUMNS; i++) numbers[i] = (uint16_t)(i * 7919);
  const int64_t dims[] = {ROWS, COLUMNS}, byte_strides[] = {2, -2 * ROWS};
  const uint16_t* first = numbers + (size_t)(COLUMNS - 1) * ROWS;

  /* bf16[300,500]{1,0:T(8,128)(2,1)}, as a TPU has it. */
  const int64_t minor_to_major[] = {1, 0}, tile_dims[] = {8, 128, 2, 1};
  const size_t tile_dim_sizes[] = {2, 2};
  const MemoryLayoutTiled device = {minor_to_major, 2, tile_dims, tile_dim_sizes, 2};

  TlError error;
  Buffer buffer;
  check(buffer_from_host_buffer(TL_TYPE_BF16, first, dims, 2, byte_strides, 2, &device, &buffer, &error), &error);
  char text[64];
  tl_layout_text(buffer.layout, text, sizeof text);
  printf("on the device: %s, %zu bytes\n", text, buffer.bytes);

  const uint64_t index[] = {299, 499};
  uint64_t offset = 0;
  check(tl_layout_offset(buffer.layout, index, 2, &offset, &error), &error);
  uint16_t there;
  memcpy(&there, buffer.memory + 2 * offset, sizeof there);
  printf("index [299,499] is element %" PRIu64 ": %u\n", offset, (unsigned)there);

  size_t bytes = 0, wrong = 0;
  check(buffer_to_host_buffer(&buffer, NULL, &bytes, &error), &error);
  check(buffer_to_host_buffer(&buffer, back, &bytes, &error), &error);
  for (size_t row = 0; row < ROWS; row++)
    for (size_t column = 0; column < COLUMNS; column++)
      wrong += back[row * COLUMNS + column] != numbers[(COLUMNS - 1 - column) * ROWS + row];
  printf("back on the host: %zu bytes, %zu wrong\n", bytes, wrong);

  /* A host buffer of another size is refused before a byte is written. */
  bytes = 16;
  TlStatus status = buffer_to_host_buffer(&buffer, back, &bytes, &error);
  printf("into 16 bytes: status %d, %s: %s\n", (int)status, error.code, error.text);

  buffer_destroy(&buffer);
  free(numbers);
  free(back);
  return wrong != 0 || status != TL_STATUS_BUFFER;
}
