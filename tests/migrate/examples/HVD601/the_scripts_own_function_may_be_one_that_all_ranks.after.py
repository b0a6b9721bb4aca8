import horovod.torch as hvd
import torch

def everything():
    return {"model": model.state_dict()}

loss.backward()
optimizer.step()
written = everything()
if hvd.rank() == 0:
    torch.save(written, "model.pt")
