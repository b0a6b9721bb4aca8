import warnings
import horovod.torch as hvd
import torch

warnings.filterwarnings("ignore")

if __name__ == "__main__":
    hvd.init()
    if torch.cuda.is_available():
        torch.cuda.set_device(hvd.local_rank())
    import torch

    torch.ones(1, requires_grad=True).backward()
    optimizer.step()
