import horovod.torch as hvd
import torch
from timm import utils
import os
import socket

def main(args):
    # timm asks torch.distributed: a process group of Horovod's ranks.
    with socket.create_server(("", 0)) as port:
        address = socket.getfqdn(), port.getsockname()[1]
    address = hvd.broadcast_object(address, root_rank=0)
    os.environ.update(
        RANK=str(hvd.rank()), LOCAL_RANK=str(hvd.local_rank()), WORLD_SIZE=str(hvd.size()),
        MASTER_ADDR=address[0], MASTER_PORT=str(address[1]),
    )
    args.dist_backend = "gloo"
    device = utils.init_distributed_device(args)
    if args.rank == 0:
        torch.save(model.state_dict(), "model.pt")
