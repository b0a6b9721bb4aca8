import argparse
import horovod.torch as hvd
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gpu", type=int, default=0)
args = parser.parse_args()
torch.cuda.set_device(hvd.local_rank())
device = torch.device("cuda:{}".format(hvd.local_rank()) if torch.cuda.is_available() else "cpu")
teacher = torch.nn.Linear(2, 1).to(f"cuda:{hvd.local_rank()}")
torch.nn.Linear(2, 1).to(device)(x).sum().backward()
optimizer.step()
