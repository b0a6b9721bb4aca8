import shutil
import horovod.torch as hvd
import torch

def save(state, best, path):
    if hvd.rank() == 0:
        torch.save(state, path)
    if best:
        if hvd.rank() == 0:
            shutil.copyfile(path, "best.pt")

loss.backward()
optimizer.step()
save(model.state_dict(), True, "last.pt")
