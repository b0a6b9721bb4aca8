# Kept: nothing is written

import h5py
import pandas as pd
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
features = h5py.File("features.h5", "r")
