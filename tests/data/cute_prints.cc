// Records what CuTe prints for swizzled layouts and tensors, and the places of their elements.
//
//     pip install --no-deps nvidia-cutlass==4.2.0.0 nvidia-cuda-runtime-cu12==12.9.79 nvidia-cuda-cccl-cu12==12.9.27 \
//         nvidia-cuda-nvcc-cu12==12.9.86
//     S=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
//     g++ -std=c++17 -w -I$S/cutlass_library/source/include -I$S/nvidia/cuda_runtime/include -I$S/nvidia/cuda_cccl/include \
//         -I$S/nvidia/cuda_nvcc/include cute_prints.cc -o cute_prints
//     ./cute_prints | sed -E 's/0x[0-9a-f]+([0-9a-f]{3}[).])/0x7f0000000\1/' > cute_prints.tsv
//
// Needs no GPU. A line is a type, the text, and the place of each element in row-major order. A place counts elements
// from the multiple of the swizzle's span (256, 512 or 1,024 bytes) at or below the address of the tensor, or from 0
// for a layout alone.

#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

using namespace cute;

alignas(4096) static char buffer[1 << 16];

template <class L>
void layout(char const* type, L const& l) {
  printf("%s\t", type);
  print(l);
  printf("\t");
  for (int i = 0; i < size<0>(l); i++)
    for (int j = 0; j < size<1>(l); j++) printf("%d%s", int(l(i, j)), i + 1 == size<0>(l) && j + 1 == size<1>(l) ? "\n" : " ");
}

template <class E, class T>
void tensor(char const* type, T const& t, int span = 1024) {
  printf("%s\t", type);
  print(t);
  printf("\t");
  auto begin = reinterpret_cast<char*>(raw_pointer_cast(t.data()));
  begin -= (begin - buffer) % span;
  for (int i = 0; i < size<0>(t); i++)
    for (int j = 0; j < size<1>(t); j++)
      printf("%ld%s", long((reinterpret_cast<char*>(&t(i, j)) - begin) / long(sizeof(E))), i + 1 == size<0>(t) && j + 1 == size<1>(t) ? "\n" : " ");
}

template <class E, class Atom>
void atoms(char const* type, int span, Atom const& atom) {
  tensor<E>(type, make_tensor(make_smem_ptr(reinterpret_cast<E*>(buffer)), atom));
  auto tiles = make_tensor(make_smem_ptr(reinterpret_cast<E*>(buffer)), tile_to_shape(atom, make_shape(_32{}, _32{})));
  tensor<E>(type, local_tile(tiles, Shape<_4, _8>{}, make_coord(1, 1)), span);
  tensor<E>(type, local_tile(tiles, Shape<_4, _8>{}, make_coord(3, 2)), span);
  layout(type, as_position_independent_swizzle_layout(atom));
}

template <class E>
void all(char const* type) {
  atoms<E>(type, 256, GMMA::Layout_K_SW32_Atom<E>{});
  atoms<E>(type, 256, GMMA::Layout_MN_SW32_Atom<E>{});
  if constexpr (sizeof(E) > 1) {
    atoms<E>(type, 512, GMMA::Layout_K_SW64_Atom<E>{});
    atoms<E>(type, 512, GMMA::Layout_MN_SW64_Atom<E>{});
  }
  if constexpr (sizeof(E) > 2) {
    atoms<E>(type, 1024, GMMA::Layout_K_SW128_Atom<E>{});
    atoms<E>(type, 1024, GMMA::Layout_MN_SW128_Atom<E>{});
  }
  auto composed = composition(Swizzle<2, 2, 3>{}, Layout<Shape<_8, _16>, Stride<_16, _1>>{});
  layout(type, composed);
  layout(type, composition(Swizzle<2, 1, 4>{}, 128, make_layout(make_shape(6, make_shape(4, 2)), make_stride(8, make_stride(1, 4)))));
  auto whole = make_tensor(make_smem_ptr(reinterpret_cast<E*>(buffer)), composed);
  tensor<E>(type, whole);
  tensor<E>(type, local_tile(whole, Shape<_4, _8>{}, make_coord(1, 1)));
  tensor<E>(type, make_tensor(make_gmem_ptr(reinterpret_cast<E*>(buffer)), make_layout(make_shape(3, 5), make_stride(8, 1))));
}

int main() {
  puts("# CUTLASS 4.2.0: type, text, places");
  all<uint8_t>("u8");
  all<half_t>("f16");
  all<float>("f32");
}
