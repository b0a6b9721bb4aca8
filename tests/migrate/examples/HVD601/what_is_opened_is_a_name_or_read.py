# Kept: what is opened is a name, or read

import json
import torch

model(x).sum().backward()
optimizer.step()
with archive.open("a.json") as file, stream.open("r") as other:
    scores = json.load(file)
