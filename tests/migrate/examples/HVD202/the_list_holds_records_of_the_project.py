# Kept: the list holds records of the project, each with a module of its own

from torch.nn.parallel import DistributedDataParallel as DDP

def train(nets, batches):
    phases = []
    for net in nets:
        wrapped = DDP(net)
        phases += [Phase(module=net, loss=Loss(wrapped))]
    for phase, batch in zip(phases, batches):
        phase.module.requires_grad_(True)
