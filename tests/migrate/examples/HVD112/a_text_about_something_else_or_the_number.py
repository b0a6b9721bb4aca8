# Kept: a text about something else, or the number of something else

import torch
import torch.distributed as dist

rank = dist.get_rank()
one = torch.device("cuda:{}".format())
two = torch.device("cuda:" + rank)
three = torch.device("cuda:" + str())
four = torch.device(f"{kind}:{rank}")
five = torch.device("cpu" + str(rank))
six = torch.device("meta:{}".format(rank))
seven = model.to()
