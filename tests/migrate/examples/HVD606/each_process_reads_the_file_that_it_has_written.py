# Kept: each process reads the file that it has written itself

import os
import tempfile
import torch

path = os.path.join(tempfile.mkdtemp(), "best.pt")
loss.backward()
torch.save(model.state_dict(), path)
model.load_state_dict(torch.load(path))
