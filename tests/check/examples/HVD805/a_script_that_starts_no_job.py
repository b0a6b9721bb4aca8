# Kept: no program that reaches it is a job of several ranks

import horovod.torch as hvd


def mean(value):
    return hvd.allreduce(value)


if __name__ == "__main__":
    print(mean(torch.ones(1)))
