from pathlib import Path
import torch

folder = Path("runs")
if not folder.exists():
    print("a new folder")
    folder.mkdir(exist_ok=True)
model(x).sum().backward()
optimizer.step()
