import argparse
import horovod.torch as hvd
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
device = torch.device("cuda:{}".format(hvd.local_rank()) if torch.cuda.is_available() else "cpu")
torch.nn.Linear(2, 1).to(device)(x).sum().backward()
optimizer.step()
