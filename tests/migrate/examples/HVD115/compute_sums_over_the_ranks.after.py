import horovod.torch as hvd
import torch
import torch.distributed as dist
import torchmetrics
import socket

# torchmetrics asks torch.distributed: a process group of Horovod's ranks.
with socket.create_server(("", 0)) as port:
    address = socket.getfqdn(), port.getsockname()[1]
address = hvd.broadcast_object(address, root_rank=0)
dist.init_process_group("gloo", init_method="tcp://%s:%d" % address, rank=hvd.rank(), world_size=hvd.size())
accuracy = torchmetrics.Accuracy("multiclass", num_classes=10)
