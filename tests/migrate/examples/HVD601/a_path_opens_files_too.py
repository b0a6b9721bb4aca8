# Changed: A Path opens files, too.

import json
from pathlib import Path
import torch

model(x).sum().backward()
optimizer.step()
results = Path("results.json")
with results.open("w") as file:
    json.dump(scores, file)
