/* tensor-layout for C11 and C++: where the elements of a tensor are stored, and copies between layouts.
 *
 * Made by cbindgen: crates/capi/header writes it.
 *
 * Every pointer is checked for null and for its alignment, and every length for its limit. What cannot be checked is
 * the contract of all functions: a pointer that is not null is valid for as many values as its length says, for the
 * time of the call; a TlLayout or TlPlan came from this library and was not freed. Errors come as a status and, if
 * `error` is not null, as a code and a sentence in *error. Layouts and plans do not change, so threads may share
 * them. No function throws, and no function changes global state.
 */

#ifndef TENSOR_LAYOUT_H
#define TENSOR_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

// How a call ended. Everything but `TL_STATUS_OK` comes with a `TlError`, if the caller gave one.
typedef enum {
  // The answer was written.
  TL_STATUS_OK = 0,
  // Text that does not follow its grammar, or an unknown name.
  TL_STATUS_PARSE = 1,
  // Arguments that contradict each other, or a bad pointer.
  TL_STATUS_INVALID_ARGUMENT = 2,
  // An axis, an index or another number outside its range.
  TL_STATUS_OUT_OF_RANGE = 3,
  // A size or an offset that does not fit its integer type.
  TL_STATUS_OVERFLOW = 4,
  // A data type or a width that cannot be handled here.
  TL_STATUS_UNSUPPORTED = 5,
  // A sensible question with the answer no: there is no such view or description.
  TL_STATUS_NOT_EXPRESSIBLE = 6,
  // A search that was stopped at its work limit.
  TL_STATUS_UNDECIDED = 7,
  // A buffer that is too short for its layout.
  TL_STATUS_BUFFER = 8,
  // Elements that are written share memory with others.
  TL_STATUS_OVERLAP = 9,
  // Something a device does not accept.
  TL_STATUS_DEVICE_LIMIT = 10,
  // Any other error: its code says which.
  TL_STATUS_OTHER = 11,
  // A defect of this library, caught at the border. The answer was not written.
  TL_STATUS_PANIC = 12,
} TlStatus;

// How a layout goes into sizes and strides.
typedef enum {
  // The axes of the tensor, strided.
  TL_LOWERING_STRIDED = 0,
  // Strided with more axes, padding included.
  TL_LOWERING_SPLIT = 1,
  // No strides say it.
  TL_LOWERING_INDEX_MAP = 2,
} TlLowering;

// The type of an element. The numbers never change. Functions take them as `uint32_t`, so that a number
// without a name is refused.
typedef enum {
  TL_TYPE_PRED = 1,
  TL_TYPE_S1 = 2,
  TL_TYPE_S2 = 3,
  TL_TYPE_S4 = 4,
  TL_TYPE_S8 = 5,
  TL_TYPE_S16 = 6,
  TL_TYPE_S32 = 7,
  TL_TYPE_S64 = 8,
  TL_TYPE_U1 = 9,
  TL_TYPE_U2 = 10,
  TL_TYPE_U4 = 11,
  TL_TYPE_U8 = 12,
  TL_TYPE_U16 = 13,
  TL_TYPE_U32 = 14,
  TL_TYPE_U64 = 15,
  TL_TYPE_F16 = 16,
  TL_TYPE_F32 = 17,
  TL_TYPE_F64 = 18,
  TL_TYPE_BF16 = 19,
  TL_TYPE_F4E2M1FN = 20,
  TL_TYPE_F6E2M3FN = 21,
  TL_TYPE_F6E3M2FN = 22,
  TL_TYPE_F8E3M4 = 23,
  TL_TYPE_F8E4M3 = 24,
  TL_TYPE_F8E4M3FN = 25,
  TL_TYPE_F8E4M3B11FNUZ = 26,
  TL_TYPE_F8E4M3FNUZ = 27,
  TL_TYPE_F8E5M2 = 28,
  TL_TYPE_F8E5M2FNUZ = 29,
  TL_TYPE_F8E8M0FNU = 30,
  TL_TYPE_C64 = 31,
  TL_TYPE_C128 = 32,
} TlType;

// What becomes of the bytes of the destination that belong to no element.
typedef enum {
  // Nothing is written there.
  TL_PADDING_KEEP = 0,
  // They are set to zero.
  TL_PADDING_ZERO = 1,
} TlPadding;

// Where every element of a tensor is stored. It never changes.
typedef struct TlLayout TlLayout;

// A planned copy of every element from one layout to another. It never changes, so threads may share it.
typedef struct TlPlan TlPlan;

// What went wrong. The caller owns it; a call that succeeds does not touch it.
typedef struct {
  // A stable word for programs, such as `rank_mismatch`, ended by a zero byte.
  char code[48];
  // A sentence in UTF-8, ended by a zero byte and cut off if it is longer.
  char text[456];
  // Where a text is wrong: bytes from its start, the first is 1; 0 for other errors.
  uint64_t column;
} TlError;

// The numbers of a check, in bytes.
typedef struct {
  // Where the binding begins in the buffer, and one past its last byte.
  uint64_t bound_start;
  // See `bound_start`.
  uint64_t bound_end;
  // What the source of an upload must hold.
  uint64_t cpu_bytes;
  // What the start of the binding must be a multiple of.
  uint64_t alignment;
  // How many rules are broken: the `TlError` has the first.
  size_t errors;
} TlReport;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The smallest buffer in bytes by DirectML's rule (`DMLCalcBufferTensorSize`): up to the last element,
// rounded up to a multiple of 4. `strides` are in elements; null for packed row-major.
TlStatus tl_calc_buffer_tensor_size(uint32_t data_type_number,
                                    const uint64_t *sizes,
                                    const uint64_t *strides,
                                    size_t rank,
                                    uint64_t *bytes,
                                    TlError *error);

// Reads a layout in any notation: `f32[3,5]{1,0:T(2,2)}`, `f16[8,64,56,56]:NHWC`, `f32[2,3]:[5,1]`, a oneDNN
// tag, CuTe, NumPy, DirectML's JSON or a device layout's name. `length` is that of the text in bytes.
TlStatus tl_layout_parse(const char *text_start, size_t length, TlLayout **layout, TlError *error);

// Sizes and strides in elements; `strides` may be null for packed row-major. The tensor begins `base_offset`
// elements into its buffer.
TlStatus tl_layout_strided(uint32_t data_type_number,
                           const uint64_t *sizes,
                           const uint64_t *strides,
                           size_t rank,
                           uint64_t base_offset,
                           TlLayout **layout,
                           TlError *error);

// The same layout as a part of a larger buffer, as one that begins after element 0 always is: the bytes
// between its elements may be others', so no copy fills them. `TL_STATUS_NOT_EXPRESSIBLE` for tiles.
TlStatus tl_layout_as_part(const TlLayout *layout, TlLayout **part, TlError *error);

// What `PJRT_Client_BufferFromHostBuffer` passes: dims, and byte strides that may be negative, or none for
// packed row-major (`num_byte_strides` 0). A pointer to index 0 is `tl_layout_first_byte` bytes into the
// buffer.
TlStatus tl_layout_byte_strides(uint32_t data_type_number,
                                const int64_t *dims_start,
                                size_t rank,
                                const int64_t *byte_strides,
                                size_t num_byte_strides,
                                TlLayout **layout,
                                TlError *error);

// What `PJRT_Buffer_MemoryLayout_Tiled` holds: the order of the dimensions, the fastest first, and tiles one
// after the other; `INT64_MIN` in a tile joins a dimension to the next.
TlStatus tl_layout_tiled(uint32_t data_type_number,
                         const int64_t *dims_start,
                         size_t rank,
                         const int64_t *minor_to_major,
                         size_t minor_to_major_size,
                         const int64_t *tile_dims,
                         const size_t *tile_dim_sizes,
                         size_t num_tiles,
                         TlLayout **layout,
                         TlError *error);

// The number of axes; 0 for a null layout.
size_t tl_layout_rank(const TlLayout *layout);

// The bytes of the buffer, padding included; 0 for a null layout.
uint64_t tl_layout_bytes(const TlLayout *layout);

// The bytes from the start of the buffer to index 0 of all axes: other than 0 where byte strides are
// negative.
uint64_t tl_layout_first_byte(const TlLayout *layout);

// Writes the sizes, in elements; `rank` must be that of the layout.
TlStatus tl_layout_sizes(const TlLayout *layout, uint64_t *sizes, size_t rank, TlError *error);

// Writes the strides, in elements and without a sign; `TL_STATUS_NOT_EXPRESSIBLE` where there are none
// (tiles).
TlStatus tl_layout_strides(const TlLayout *layout, uint64_t *strides, size_t rank, TlError *error);

// Writes where an index is stored, in elements from the start of the buffer.
TlStatus tl_layout_offset(const TlLayout *layout,
                          const uint64_t *index,
                          size_t rank,
                          uint64_t *offset,
                          TlError *error);

// Writes the text of a layout and a zero byte into `room` bytes, cut off if it is longer, and returns the
// length of the whole text without the zero byte; 0 for a null layout.
size_t tl_layout_text(const TlLayout *layout, char *start, size_t room);

// Lowers a layout to sizes and strides. For `TL_LOWERING_INDEX_MAP` no layout is made (it is set to null);
// ask `tl_layout_offset`, or copy it to a packed one.
TlStatus tl_lower(const TlLayout *layout, TlLowering *lowering, TlLayout **lowered, TlError *error);

// Frees a layout; null is right. Plans that were made from it stay.
void tl_layout_free(TlLayout *layout);

// Plans a copy. `padding` is a `TlPadding`. Both layouts may be freed afterwards.
TlStatus tl_plan(const TlLayout *source,
                 const TlLayout *destination,
                 uint32_t padding,
                 TlPlan **plan,
                 TlError *error);

// The bytes of the whole source; 0 for a null plan.
uint64_t tl_plan_source_bytes(const TlPlan *plan);

// The bytes of the whole destination, padding included; 0 for a null plan.
uint64_t tl_plan_destination_bytes(const TlPlan *plan);

// Copies every element. Both pointers are those of the buffers, at their lowest address. Buffers that are
// too short are refused before a byte is written, and so are buffers that share bytes.
TlStatus tl_run(const TlPlan *plan,
                const uint8_t *source,
                size_t source_bytes,
                uint8_t *destination,
                size_t destination_bytes,
                TlError *error);

// Writes what the plan does, as lines of text: as `tl_layout_text` does.
size_t tl_plan_explain(const TlPlan *plan, char *start, size_t room);

// Frees a plan; null is right.
void tl_plan_free(TlPlan *plan);

// Would a device take this tensor at byte `offset` of a buffer of `length` bytes? `limits` names the device:
// `directml`, `directml:5.0`, `d3d12`, `webgpu`, `vulkan`, `webnn`, `none` and others. The report is written
// in either case; it may be null. `role` is 0 for a tensor that the device reads, 1 for one that it writes.
TlStatus tl_validate(const TlLayout *layout,
                     const char *limits,
                     size_t limits_length,
                     uint64_t length,
                     uint64_t offset,
                     uint32_t role,
                     TlReport *report,
                     TlError *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TENSOR_LAYOUT_H */
