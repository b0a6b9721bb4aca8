# Reported: the file is read again: a rank could come before it is there, and may not come by this test

import json
import torch

loss.backward()
optimizer.step()
if not os.path.exists("settings.json"):
    with open("settings.json", "w") as file:
        json.dump(settings, file)
model.load(json.load(open("settings.json")))
