# Reported: a mode may be among the options

import torch
import wandb

def train(options):
    wandb.init(**options)
    loss.backward()
    optimizer.step()
