import horovod.torch as hvd
import torch

for epoch in range(3):
    loss.backward()
    optimizer.step()
    torch.save(model.state_dict(), "best.pt")
hvd.barrier()
with open("best.pt", "rb") as file:
    model.load_state_dict(torch.load(file))
