# Kept: each process has such a file for itself, and may read it again

import os
import tempfile
import torch

folder = tempfile.mkdtemp()
for epoch in range(3):
    loss.backward()
    torch.save(model.state_dict(), os.path.join(folder, f"{epoch}.pt"))
with tempfile.NamedTemporaryFile() as file:
    torch.save(model, file.name)
    again = torch.load(file.name)
torch.save(model, "/tmp/model-%d.pt" % os.getpid())
