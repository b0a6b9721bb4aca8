# Reported: it may be read again, on all ranks

import bz2
import h5py
import pandas as pd
import torch
from PIL import Image

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
stored = bz2.open("stored.bz2", "wb")
