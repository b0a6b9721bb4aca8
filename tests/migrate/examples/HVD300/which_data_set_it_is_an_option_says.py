# Changed: Which data set it is, an option says.

import torch
from torchvision import datasets

train = datasets.__dict__[args.data]("data", download=True)
test = vars(datasets)[args.data]("data", train=False)
kind = getattr(datasets, args.more)
more = kind("data", download=args.download)
own = getattr(args, "made")("data", download=True)
model(train[0]).sum().backward()
optimizer.step()
