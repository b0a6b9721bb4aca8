import torch
import train

print(train.dist.get_rank())
