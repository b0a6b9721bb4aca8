import logging
import os
import horovod.torch as hvd
import torch

def main(folder):
    logging.basicConfig(filename=(folder + "/train.txt") if hvd.rank() == 0 else os.devnull, level=logging.INFO)
    loss.backward()
    optimizer.step()

main(os.getcwd())
