import os
import horovod.torch as hvd

def train():
    run(int(os.environ["RANK"]))

def infer():
    run(int(os.environ.get("RANK", 0)))

def main(args):
    hvd.init()
    if args.train:
        train()
    elif args.test:
        infer()

main(parse())
