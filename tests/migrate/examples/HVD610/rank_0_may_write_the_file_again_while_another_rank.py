# Kept: rank 0 may write the file again while another rank reads what was there
# Options: --suggested

import torch

model(x).sum().backward()
optimizer.step()
for part in (rest, more):
    with open(args.answers, "w") as file:
        answers = model(part)
        file.write(str(answers))
    print(score(answers, args.answers))
with open(args.answers, "w") as file:
    answers = model(x)
    file.write(str(answers))
print(score(answers, args.answers))
