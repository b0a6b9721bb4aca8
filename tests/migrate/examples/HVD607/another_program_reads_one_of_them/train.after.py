import json
import pickle
import horovod.torch as hvd
import torch

def write(things, path):
    if hvd.rank() == 0:
        with open(path, "wb") as file:
            pickle.dump(things, file)

if hvd.rank() == 0:
    with open("names.json", "w") as file:
        file.write(json.dumps(names))
    json.dump(vars(args), open(args.out + "/settings.json", "w"), indent=2)
loss.backward()
optimizer.step()
write(names, "names.pkl")
print("done")
