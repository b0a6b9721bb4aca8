from pathlib import Path
import torch

exist_ok = run == ""
folder = Path("runs") / run
folder.mkdir(parents=True, exist_ok=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
