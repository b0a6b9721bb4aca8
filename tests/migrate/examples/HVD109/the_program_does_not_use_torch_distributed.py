# Kept: the program does not use torch.distributed

import os
import torch

os.environ["MASTER_ADDR"] = "localhost"
