# Changed: Each round has a file of its own: rank 0 does not write again what another still reads.
# Options: --suggested

import torch

for number in range(2):
    with open("part_{}.txt".format(number), "w") as file:
        answers = model(parts[number])
        file.write(str(answers))
    print(score(answers, "part_{}.txt".format(number)))
model(x).sum().backward()
optimizer.step()
