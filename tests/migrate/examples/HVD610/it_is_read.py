# Kept: it is read
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
with open("answers.txt", "r") as file:
    answers = model(rest)
    answers = file.read()
print(answers)
