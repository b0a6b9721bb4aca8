import csv
import json
import os
import horovod.torch as hvd
import torch

def evaluate(epoch):
    with open(os.path.join(args.folder, "dev.json") if hvd.rank() == 0 else os.devnull, "w") as file:
        answers = [model(x) for x in rest]
        json.dump(answers, file)
    hvd.barrier()
    return score(answers, args.folder + "/dev.json")

def main():
    log = open("rows.csv" if hvd.rank() == 0 else os.devnull, "w")
    rows = csv.writer(log)
    for epoch in range(3):
        for x in batches:
            model(x).sum().backward()
            optimizer.step()
        if args.evaluate and epoch % 2 == 0:
            rows.writerow([evaluate(epoch)])
    log.close()

main()
