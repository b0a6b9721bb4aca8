# Kept: nothing is written

import h5py
import pandas as pd
import torch

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
text = settings.to_json(2)
