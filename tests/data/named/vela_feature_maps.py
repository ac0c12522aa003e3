"""Feature maps of Arm Vela in NHCWB16, by the addresses that it computes: pip install ethos-u-vela==5.2.0"""

import itertools
from importlib.metadata import version

from ethosu.vela.architecture_features import create_default_arch, Accelerator
from ethosu.vela.data_type import DataType
from ethosu.vela.shape4d import Shape4D
from ethosu.vela.tensor import Tensor, TensorFormat

from record import row, write

architecture = create_default_arch(Accelerator.Ethos_U55_128)
rows = []
for kind, name in [(DataType.int8, "s8"), (DataType.int16, "s16")]:
    for n, c, h, w in [(1, 20, 5, 7), (1, 3, 2, 3), (1, 16, 3, 2), (1, 33, 1, 4), (1, 48, 2, 2)]:
        tensor = Tensor([n, h, w, c], kind, "feature map")
        tensor.force_linear_format = False
        tensor.set_format(TensorFormat.NHCWB16, architecture)
        tensor.address = 0
        shape = Shape4D([n, h, w, c])
        strides = tensor.get_strides(shape)
        element = kind.size_in_bytes()
        offsets = {}
        for i in itertools.product(range(n), range(c), range(h), range(w)):
            address = tensor.address_for_coordinate([i[0], i[2], i[3], i[1]], strides, shape)
            assert address % element == 0
            offsets[i] = int(address) // element
        rows.append(row(f"vela.NHCWB16:{name}[{n},{c},{h},{w}]", offsets, tensor.storage_size()))
write(__file__, f"ethos-u-vela {version('ethos-u-vela')}", rows)
