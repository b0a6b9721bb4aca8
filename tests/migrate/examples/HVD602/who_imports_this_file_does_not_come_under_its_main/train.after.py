import horovod.torch as hvd
import torch

def network():
    return torch.nn.Linear(2, 1)

if __name__ == "__main__":
    if hvd.rank() == 0:
        print("training")
    loss.backward()
    optimizer.step()
