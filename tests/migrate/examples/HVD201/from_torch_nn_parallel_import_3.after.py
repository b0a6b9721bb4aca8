import horovod.torch as hvd

stages = [stage.cuda() for stage in build()]
for model in stages:
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
heads = {name: head for name, head in more()}
for model in heads.values():
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
