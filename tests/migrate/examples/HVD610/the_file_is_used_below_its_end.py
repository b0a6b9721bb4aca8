# Kept: the file is used below its end
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
file = open("answers.txt", "w")
answers = model(rest)
file.write(str(answers))
file.close()
print(answers, file)
