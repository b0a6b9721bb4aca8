import horovod.torch as hvd
import torch
from timm.models import create_model
from timm.utils import NativeScaler
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(create_model("levit"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = NativeScaler()
scaler(loss, optimizer)
model.eval()
hvd.broadcast_parameters(dict(model.named_buffers()), root_rank=0)
