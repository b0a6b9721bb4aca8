import shutil
import horovod.torch as hvd
import torch

if hvd.rank() == 0:
    shutil.copy("models/%s.py" % args.model, str(folder))
loss.backward()
optimizer.step()
