# Kept: what trains is what joins: where the setting is off, nothing is trained

import torch.distributed as dist
from configuration import load

def train(config):
    dist.init_process_group("nccl")
    for x in config.data:
        model(x).sum().backward()

def evaluate(config):
    dist.init_process_group("nccl")

def main(config):
    if config.train:
        train(config)
    if config.evaluate:
        evaluate(config)

main(load("train.yaml"))
