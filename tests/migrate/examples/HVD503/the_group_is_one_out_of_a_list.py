# Reported: the group is one out of a list, and None only before the start

import torch.distributed as dist

class Trainer:
    def __init__(self):
        self.group = None

    def start(self, hosts, here):
        groups = []
        for ranks in hosts:
            groups.append(dist.new_group(ranks))
        self.group = groups[here]

    def gather(self, parts, part):
        dist.all_gather(parts, part, group=self.group)
