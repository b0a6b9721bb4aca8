import horovod.torch as hvd
import torch

if args.distributed:
    model = torch.nn.parallel.DistributedDataParallel(model)
elif args.arch.startswith("vgg"):
    hvd.broadcast_parameters(model.features.state_dict(), root_rank=0)
    model.cuda()
else:
    model = model.cuda()
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
