#!/usr/bin/env bash
# CuTe of CUTLASS 4.2.0: a row or a column of a swizzled tensor is no swizzled layout. CuTe turns the XOR into strides: the mode of 8 rows
# becomes a tuple of three modes of 2, one stride can be smaller than the one of the whole tensor, and a row has a negative one. The
# shape, and with a number of the compiler also the number of modes, depends on which row or column it is.
#
# So code that matches `shape(slice) == _8{}`, or takes the stride of a row for that of the tensor, works on plain tensors only. The same tensor
# with its swizzle in the pointer (Layout_K_SW128_Atom) keeps shape and stride, because there the XOR is done on the address. Seen, for
# Swizzle<3,3,3> over 8 rows of 64:
#   tensor     Sw<3,3,3> o _0 o (_8,_64):(_64,_1)
#   column 2   ((_2,_2,_2)):((72,144,288))
#   column 10  ((_2,_2,_2)):((56,144,288))
#   column _2  (_8):(_72)
#   column _10 ((_2,_4)):((_56,_144))
#   row 1      ((_8,_2,_2,_2)):((_1,-8,16,32))
#   pointer    (_8):(_64)
#
# Exits with 1 if CuTe does something else. Needs g++, and no GPU.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet --no-deps nvidia-cutlass==4.2.0.0 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27 \
    nvidia-cuda-nvcc-cu12==12.9.86
packages=$("$folder/env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
cat > "$folder/slices.cc" <<'CPP'
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

using namespace cute;

alignas(1024) static half_t buffer[512];

template <class T>
void line(char const* name, T const& layout) {
  printf("%-10s ", name);
  print(layout);
  printf("\n");
}

int main() {
  auto swizzled = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{});
  auto tensor = make_tensor(make_smem_ptr(buffer), swizzled);
  auto by_pointer = make_tensor(make_smem_ptr(buffer), GMMA::Layout_K_SW128_Atom<half_t>{});
  for (int row = 0; row < 8; row++)
    for (int column : {2, 10})
      if (&tensor(_, column)(row) != &tensor(row, column)) return 1;
  line("tensor", tensor.layout());
  line("column 2", tensor(_, 2).layout());
  line("column 10", tensor(_, 10).layout());
  line("column _2", tensor(_, _2{}).layout());
  line("column _10", tensor(_, _10{}).layout());
  line("row 1", tensor(1, _).layout());
  line("pointer", by_pointer(_, 10).layout());
}
CPP
g++ -std=c++17 -w -I"$packages/cutlass_library/source/include" -I"$packages/nvidia/cuda_runtime/include" \
    -I"$packages/nvidia/cuda_cccl/include" -I"$packages/nvidia/cuda_nvcc/include" "$folder/slices.cc" -o "$folder/slices"
"$folder/slices" | tee "$folder/seen"
diff - "$folder/seen" <<'SEEN'
tensor     Sw<3,3,3> o _0 o (_8,_64):(_64,_1)
column 2   ((_2,_2,_2)):((72,144,288))
column 10  ((_2,_2,_2)):((56,144,288))
column _2  (_8):(_72)
column _10 ((_2,_4)):((_56,_144))
row 1      ((_8,_2,_2,_2)):((_1,-8,16,32))
pointer    (_8):(_64)
SEEN
