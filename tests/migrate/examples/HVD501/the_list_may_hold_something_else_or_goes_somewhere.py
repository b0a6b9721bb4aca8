# Reported: the list may hold something else, or goes somewhere else

import torch.distributed as dist

def started(works):
    works = [first]
    works.append(dist.all_reduce(a, async_op=True))
    return works

def mixed():
    works = []
    works.append(dist.all_reduce(a, async_op=True))
    works.append(other)
    for work in works:
        work.wait()

def pairs():
    works = []
    works.append(dist.all_reduce(a, async_op=True))
    for work, name in works:
        work.wait()

def replaced():
    works = []
    works.append(dist.all_reduce(a, async_op=True))
    for work in works:
        work = work.wait
        work()

def shown():
    works = []
    works.append(dist.all_reduce(a, async_op=True))
    for work in works:
        print(work)

def counted():
    works = []
    works.append(dist.all_reduce(a, async_op=True))
    return len(works)

def returned():
    works = []
    work = dist.all_reduce(a, async_op=True)
    works.append(work)
    for other in works:
        other.wait()
    return work

def changed():
    works = []
    work = dist.all_reduce(a, async_op=True)
    works.append(work)
    for work in works:
        work = work.wait
        work()
