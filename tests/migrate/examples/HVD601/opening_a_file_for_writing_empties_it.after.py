import horovod.torch as hvd
import torch

loss.backward()
optimizer.step()
if hvd.rank() == 0:
    with open("model.pt", "wb") as file:
        torch.save(model.state_dict(), file)
    torch.save(optimizer.state_dict(), "optimizer.pt")
