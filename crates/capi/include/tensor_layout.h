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

// The result of a call. Every status except `TL_STATUS_OK` fills in a `TlError`, if the caller passed one.
typedef enum {
  // The call succeeded and wrote its answer.
  TL_STATUS_OK = 0,
  // A text does not follow its grammar, or has an unknown name.
  TL_STATUS_PARSE = 1,
  // Arguments contradict each other, or a pointer is bad.
  TL_STATUS_INVALID_ARGUMENT = 2,
  // An axis, an index or another number is outside its range.
  TL_STATUS_OUT_OF_RANGE = 3,
  // A size or an offset does not fit its integer type.
  TL_STATUS_OVERFLOW = 4,
  // A data type or a width is not supported by this function.
  TL_STATUS_UNSUPPORTED = 5,
  // The view or description does not exist, although the request is valid.
  TL_STATUS_NOT_EXPRESSIBLE = 6,
  // A search was stopped at its work limit.
  TL_STATUS_UNDECIDED = 7,
  // A buffer is too short for its layout.
  TL_STATUS_BUFFER = 8,
  // Elements that are written share memory with others.
  TL_STATUS_OVERLAP = 9,
  // A rule of a device is broken.
  TL_STATUS_DEVICE_LIMIT = 10,
  // Any other error. Its code names the kind of error.
  TL_STATUS_OTHER = 11,
  // A defect of this library: it panicked, and no answer was written.
  TL_STATUS_PANIC = 12,
} TlStatus;

// The form that a layout has in sizes and strides.
typedef enum {
  // Strides for the axes of the tensor.
  TL_LOWERING_STRIDED = 0,
  // Strides for more axes than the tensor has, padding included.
  TL_LOWERING_SPLIT = 1,
  // No strides express the layout.
  TL_LOWERING_INDEX_MAP = 2,
} TlLowering;

// The type of an element. The numbers never change. Functions take them as `uint32_t`, so that an unknown
// number is refused.
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
  TL_TYPE_U3 = 33,
  TL_TYPE_U5 = 34,
  TL_TYPE_U6 = 35,
  TL_TYPE_U7 = 36,
} TlType;

// The treatment of the bytes of the destination that belong to no element.
typedef enum {
  // The bytes are not written.
  TL_PADDING_KEEP = 0,
  // The bytes are set to zero.
  TL_PADDING_ZERO = 1,
} TlPadding;

// The layout of a tensor, which gives the offset of every element. It never changes.
typedef struct TlLayout TlLayout;

// A planned copy of every element from one layout to another. It never changes, so threads may share it.
typedef struct TlPlan TlPlan;

// The details of an error. The caller owns the structure. A call that succeeds does not write to it.
typedef struct {
  // A stable code for programs, such as `rank_mismatch`, ended by a zero byte.
  char code[48];
  // A sentence in UTF-8, ended by a zero byte and cut off if it is too long.
  char text[456];
  // The byte at which a text is wrong, counted from 1. It is 0 for other errors.
  uint64_t column;
} TlError;

// The numbers of a check, in bytes.
typedef struct {
  // The offset of the binding's first byte in the buffer.
  uint64_t bound_start;
  // The offset of the end of the binding in the buffer.
  uint64_t bound_end;
  // The number of bytes that the source of an upload must have.
  uint64_t cpu_bytes;
  // The start of the binding must be a multiple of this number.
  uint64_t alignment;
  // The number of broken rules. The `TlError` has the first.
  size_t errors;
} TlReport;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Writes the smallest size of a buffer in bytes, by DirectML's rule (`DMLCalcBufferTensorSize`): up to the
// last element, rounded up to a multiple of 4. `strides` are in elements, or null for packed row-major.
TlStatus tl_calc_buffer_tensor_size(uint32_t data_type_number,
                                    const uint64_t *sizes,
                                    const uint64_t *strides,
                                    size_t rank,
                                    uint64_t *bytes,
                                    TlError *error);

// Reads a layout in any notation: `f32[3,5]{1,0:T(2,2)}`, `f16[8,64,56,56]:NHWC`, `f32[2,3]:[5,1]`, a oneDNN
// tag, CuTe, NumPy, DirectML's JSON, a device layout's name, a cache with a block table, values with scales
// or a tuple. `length` is the length of the text in bytes.
TlStatus tl_layout_parse(const char *text_start, size_t length, TlLayout **layout, TlError *error);

// Makes a layout from sizes and strides, in elements. `strides` may be null for packed row-major. The tensor
// begins `base_offset` elements into its buffer.
TlStatus tl_layout_strided(uint32_t data_type_number,
                           const uint64_t *sizes,
                           const uint64_t *strides,
                           size_t rank,
                           uint64_t base_offset,
                           TlLayout **layout,
                           TlError *error);

// Makes a copy of `layout` that is a part of a larger buffer. The bytes between its elements may belong to
// other tensors, so no copy fills them. A layout with a base offset always is such a part. Returns
// `TL_STATUS_NOT_EXPRESSIBLE` for tiles.
TlStatus tl_layout_as_part(const TlLayout *layout, TlLayout **part, TlError *error);

// Makes a layout from the arguments of `PJRT_Client_BufferFromHostBuffer`: dims, and byte strides that may
// be negative. Without byte strides (`num_byte_strides` 0) the layout is packed row-major. A pointer to
// index 0 is `tl_layout_first_byte` bytes into the buffer.
TlStatus tl_layout_byte_strides(uint32_t data_type_number,
                                const int64_t *dims_start,
                                size_t rank,
                                const int64_t *byte_strides,
                                size_t num_byte_strides,
                                TlLayout **layout,
                                TlError *error);

// Makes a layout from the fields of `PJRT_Buffer_MemoryLayout_Tiled`: the order of the dimensions, the
// fastest first, and the tiles one after the other. `INT64_MIN` in a tile joins a dimension to the next.
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

// Returns the number of axes, or 0 for a null layout.
size_t tl_layout_rank(const TlLayout *layout);

// Returns the size of the buffer in bytes, padding and all planes included, or 0 for a null layout and for a
// tuple, whose elements have buffers of their own.
uint64_t tl_layout_bytes(const TlLayout *layout);

// Returns the number of bytes from the start of the buffer to index 0 of all axes. It is above 0 if a byte
// stride is negative, or if the tensor begins inside its buffer.
uint64_t tl_layout_first_byte(const TlLayout *layout);

// Writes the sizes, in elements. `rank` must be the rank of the layout.
TlStatus tl_layout_sizes(const TlLayout *layout, uint64_t *sizes, size_t rank, TlError *error);

// Writes the strides, in elements and without a sign. Returns `TL_STATUS_NOT_EXPRESSIBLE` for a layout
// without strides (tiles, several parts or planes).
TlStatus tl_layout_strides(const TlLayout *layout, uint64_t *strides, size_t rank, TlError *error);

// Writes the offset of an index, in elements from the start of the buffer; of a tensor of blocks in bytes,
// and of values with scales that of the value.
TlStatus tl_layout_offset(const TlLayout *layout,
                          const uint64_t *index,
                          size_t rank,
                          uint64_t *offset,
                          TlError *error);

// Writes the 16 bytes of the fingerprint, which is equal for layouts with one type, sizes and normal form,
// in any program. Returns `TL_STATUS_NOT_EXPRESSIBLE` for a layout without a normal form.
TlStatus tl_layout_fingerprint(const TlLayout *layout, uint8_t *bytes, size_t length, TlError *error);

// Writes the text of a layout and a zero byte into `room` bytes, and cuts off a longer text. Returns the
// length of the whole text without the zero byte, or 0 for a null layout.
size_t tl_layout_text(const TlLayout *layout, char *start, size_t room);

// Lowers a layout to sizes and strides. For `TL_LOWERING_INDEX_MAP` no layout is made, and `lowered` is set
// to null. Use `tl_layout_offset` then, or copy the tensor to a packed layout.
TlStatus tl_lower(const TlLayout *layout, TlLowering *lowering, TlLayout **lowered, TlError *error);

// Frees a layout, which may be null. Plans that were made from it stay valid.
void tl_layout_free(TlLayout *layout);

// Plans a copy. `padding` is a `TlPadding`. Both layouts may be freed afterwards.
TlStatus tl_plan(const TlLayout *source,
                 const TlLayout *destination,
                 uint32_t padding,
                 TlPlan **plan,
                 TlError *error);

// Returns the size of the whole source in bytes, or 0 for a null plan.
uint64_t tl_plan_source_bytes(const TlPlan *plan);

// Returns the size by which the destination is allocated, in bytes, padding included, or 0 for a null plan.
uint64_t tl_plan_destination_bytes(const TlPlan *plan);

// Copies every element. Both pointers are the lowest addresses of their buffers. Buffers that are too short,
// or that share bytes, are refused before a byte is written.
TlStatus tl_run(const TlPlan *plan,
                const uint8_t *source,
                size_t source_bytes,
                uint8_t *destination,
                size_t destination_bytes,
                TlError *error);

// Writes a description of the plan as lines of text, in the way of `tl_layout_text`.
size_t tl_plan_explain(const TlPlan *plan, char *start, size_t room);

// Frees a plan, which may be null.
void tl_plan_free(TlPlan *plan);

// Checks whether a device accepts this tensor at byte `offset` of a buffer of `length` bytes. `limits` is
// the name of the device, as `tensor-layout check --limits list` prints it: `webgpu`, `directml:5.0`. The
// report is written whether rules are broken or not, and it may be null. `role` is 0 for a tensor that the
// device reads, and 1 for a tensor that it writes.
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
