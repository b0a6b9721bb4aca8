# Changed: Of a model that gives a part under a test the whole is sent; one that may be None is asked.

import torch

class Net(torch.nn.Module):
    def __init__(self, head):
        super().__init__()
        self.body = torch.nn.Linear(2, 2)
        self.head = head

def main(args):
    net = Net(head)
    fine = None
    if args.fine:
        fine = torch.nn.Linear(2, 1)
    groups = [{"params": net.body.parameters()}]
    if args.head:
        groups.append({"params": net.head.parameters(), "lr": 0.1})
    optimizer = torch.optim.SGD(groups, lr=0.1)
    rest = list(net.parameters())
    if args.fine:
        rest += list(fine.parameters())
    second = torch.optim.SGD(rest, lr=0.1)
    net(x).sum().backward()
    optimizer.step()

main(args)
