# Kept: os.devnull is there already
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
with open("answers.txt", "x") as file:
    answers = model(rest)
    file.write(str(answers))
print(answers)
