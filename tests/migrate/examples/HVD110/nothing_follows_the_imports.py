# Reported: nothing follows the imports: the file only defines what it imports

import torch
def train(model, batches):
    for x in batches:
        model(x).backward()
        optimizer.step()
from torch import nn
