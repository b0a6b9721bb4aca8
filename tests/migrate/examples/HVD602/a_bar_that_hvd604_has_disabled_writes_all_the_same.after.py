import horovod.torch as hvd
import torch
from tqdm import tqdm

bar = tqdm(total=10)
loss.backward()
optimizer.step()
if hvd.rank() == 0:
    bar.write("one step")
    tqdm.write("done")
