import os
import horovod.torch as hvd

hvd.init()
ddp = int(os.environ.get("RANK", -1)) != -1
if ddp:
    rank = int(os.environ["RANK"])
