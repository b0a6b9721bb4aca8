# Reported: the model is moved to what may be the same device: both, or none
# Options: --suggested

import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpus", type=int, nargs="+")
args = parser.parse_args()
torch.cuda.set_device(args.gpus[0])
torch.nn.Linear(2, 1).to(args.gpus[0])(x).sum().backward()
optimizer.step()
