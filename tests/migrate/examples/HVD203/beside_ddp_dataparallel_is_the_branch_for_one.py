# Changed: Beside DDP, DataParallel is the branch for one process.

import torch

if args.distributed:
    model = torch.nn.parallel.DistributedDataParallel(model)
elif args.arch.startswith("vgg"):
    model.features = torch.nn.DataParallel(model.features)
    model.cuda()
else:
    model = torch.nn.DataParallel(model).cuda()
