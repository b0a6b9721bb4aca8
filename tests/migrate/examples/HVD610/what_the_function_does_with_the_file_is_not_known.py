# Kept: what the function does with the file is not known
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
with open("answers.txt", "w") as file:
    answers = model(rest)
    keep(file)
print(answers)
