# Changed: the device that a single process was given, as it came

import argparse
import os
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
os.environ["CUDA_VISIBLE_DEVICES"] = str(args.gpu)
device = torch.device("cuda:{}".format(args.gpu) if torch.cuda.is_available() else "cpu")
torch.nn.Linear(2, 1).to(device)(x).sum().backward()
optimizer.step()
