# Reported: the function that reduces is given a metric

import horovod.torch as hvd
import torch

def average(values):
    return [hvd.allreduce(torch.tensor(value)) for value in values]

def main():
    hvd.init()
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in batches:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        print(average([loss.item()]))

main()
