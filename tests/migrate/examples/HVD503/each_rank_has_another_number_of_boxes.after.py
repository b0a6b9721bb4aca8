import horovod.torch as hvd
import torch

def everyone(boxes, counts):
    all_boxes = [torch.empty(count, 4, device=boxes.device) for count in counts]
    for output, row in zip(all_boxes, hvd.allgather(boxes.detach()).split([len(each) for each in all_boxes])):
        output.copy_(row)
    return torch.cat(all_boxes)
