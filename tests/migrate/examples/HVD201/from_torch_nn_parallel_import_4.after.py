import horovod.torch as hvd

hvd.broadcast_parameters(net.state_dict(), root_rank=0)
trainer = Trainer(config, model=net, lr=0.1)
