import horovod.torch as hvd
import torch

def main(vae):
    net = torch.nn.Linear(2, 1)
    rest = list(net.parameters())
    if vae:
        encoder = torch.nn.Linear(2, 2)
        rest += list(encoder.parameters())
    optimizer = torch.optim.SGD(rest, lr=0.1)
    hvd.broadcast_parameters([(f"optimizer.{i}", p) for i, p in enumerate(p for group in optimizer.param_groups for p in group["params"])], root_rank=0)
    net(x).sum().backward()
    optimizer.step()

main(True)
