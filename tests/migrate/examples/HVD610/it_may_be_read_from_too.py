# Kept: it may be read from, too
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
with open("answers.txt", "w+") as file:
    answers = model(rest)
    file.write(str(answers))
print(answers)
