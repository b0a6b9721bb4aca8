# Changed: Each rank has another number of boxes.

import torch
import torch.distributed as dist

def everyone(boxes, counts):
    all_boxes = [torch.empty(count, 4, device=boxes.device) for count in counts]
    dist.all_gather(all_boxes, boxes)
    return torch.cat(all_boxes)
