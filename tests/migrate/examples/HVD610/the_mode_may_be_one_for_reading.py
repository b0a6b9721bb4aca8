# Kept: the mode may be one for reading
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
with open("answers.txt", mode) as file:
    answers = model(rest)
    file.write(str(answers))
print(answers)
