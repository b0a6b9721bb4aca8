# Changed: What is asked whether it exists is a Path.

from pathlib import Path
import torch

folder = Path("runs")
if not folder.exists():
    print("a new folder")
    folder.mkdir()
model(x).sum().backward()
optimizer.step()
