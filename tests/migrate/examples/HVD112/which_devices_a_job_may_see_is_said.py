# Changed: Which devices a job may see is said where it is started.
# Options: --suggested

import argparse
import os
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)
torch.cuda.set_device(args.gpu)
device = torch.device("cuda:{}".format(args.gpu) if torch.cuda.is_available() else "cpu")
teacher = torch.nn.Linear(2, 1).to(f"cuda:{args.gpu}")
torch.nn.Linear(2, 1).to(device)(x).sum().backward()
optimizer.step()
