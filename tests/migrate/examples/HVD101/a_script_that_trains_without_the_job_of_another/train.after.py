import tools
import horovod.torch as hvd
import torch

def main():
    model = tools.wrap(torch.nn.Linear(2, 1), False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
    optimizer.step()

if __name__ == "__main__":
    hvd.init()
    if torch.cuda.is_available():
        torch.cuda.set_device(hvd.local_rank())
    main()
