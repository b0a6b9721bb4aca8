# Changed: A bar that HVD604 has disabled writes all the same.

import torch
from tqdm import tqdm

bar = tqdm(total=10)
loss.backward()
optimizer.step()
bar.write("one step")
tqdm.write("done")
