import torch
from train import *

print(dist.get_rank())
