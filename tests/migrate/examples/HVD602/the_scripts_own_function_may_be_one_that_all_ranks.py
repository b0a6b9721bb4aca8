# Kept: the script's own function may be one that all ranks have to run

import torch

def accuracy():
    return evaluate_everywhere()

def train():
    loss.backward()
    print(accuracy())
