# Changed: Another program reads one of them: it runs later.
# Options: --suggested

import json
import pickle
import torch

def write(things, path):
    with open(path, "wb") as file:
        pickle.dump(things, file)

with open("names.json", "w") as file:
    file.write(json.dumps(names))
json.dump(vars(args), open(args.out + "/settings.json", "w"), indent=2)
loss.backward()
optimizer.step()
write(names, "names.pkl")
print("done")
