# Changed.
# Options: --suggested

import json
import torch

class Settings:
    def to_dict(self):
        return {key: str(value) for key, value in vars(self).items()}

settings = Settings()
loss.backward()
optimizer.step()
with open("log.txt", "a") as first, open("settings.json", "w") as second:
    if first.tell() == 0:
        print("loss", file=first)
    first.write(str(loss.item()))
    second.write(json.dumps(settings.to_dict()))
