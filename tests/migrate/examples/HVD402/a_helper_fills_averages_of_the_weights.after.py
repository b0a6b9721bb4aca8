import horovod.torch as hvd
import torch

def update(average, model, decay):
    for mine, its in zip(average.parameters(), model.parameters()):
        mine.data.mul_(decay).add_(its.data, alpha=1 - decay)

model, average = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
update(average, model, 0)
if options.teacher:
    teacher = torch.nn.Linear(2, 1)
    update(teacher, model, 0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
hvd.broadcast_parameters(model.state_dict(), root_rank=0)
hvd.broadcast_parameters(average.state_dict(), root_rank=0)
if options.teacher:
    hvd.broadcast_parameters(teacher.state_dict(), root_rank=0)
model(x).sum().backward()
