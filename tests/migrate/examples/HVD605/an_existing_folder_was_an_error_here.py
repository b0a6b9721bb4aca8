# Changed: An existing folder was an error here: of all ranks, one alone would go on.
# Options: --suggested

from pathlib import Path
import torch

exist_ok = run == ""
folder = Path("runs") / run
folder.mkdir(parents=True, exist_ok=exist_ok)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
