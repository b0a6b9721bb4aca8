import horovod.torch as hvd
import torch

def main():
    """Train."""
    hvd.init()
    if torch.cuda.is_available():
        torch.cuda.set_device(hvd.local_rank())
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(data):
        model(x).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
