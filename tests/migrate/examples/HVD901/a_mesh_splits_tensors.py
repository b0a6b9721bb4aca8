# Reported: a mesh splits tensors

from torch.distributed.device_mesh import init_device_mesh

mesh = init_device_mesh("cuda", (2, 4))
