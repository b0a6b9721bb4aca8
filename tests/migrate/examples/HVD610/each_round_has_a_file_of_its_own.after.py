import horovod.torch as hvd
import torch
import os

for number in range(2):
    with open("part_{}.txt".format(number) if hvd.rank() == 0 else os.devnull, "w") as file:
        answers = model(parts[number])
        file.write(str(answers))
    hvd.barrier()
    print(score(answers, "part_{}.txt".format(number)))
model(x).sum().backward()
optimizer.step()
