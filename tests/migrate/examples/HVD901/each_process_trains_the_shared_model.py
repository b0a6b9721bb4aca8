# Reported: each process trains the model that they share, as Hogwild does

import torch
import torch.multiprocessing as mp

def train(rank, model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(data):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    model = torch.nn.Linear(2, 1)
    model.share_memory()
    workers = [mp.Process(target=train, args=(rank, model)) for rank in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
