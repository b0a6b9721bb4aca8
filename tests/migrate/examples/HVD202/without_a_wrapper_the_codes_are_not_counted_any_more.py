# Reported: without a wrapper the codes are not counted any more

from torch.nn.parallel import DistributedDataParallel as DDP

def evaluate(model, scores):
    if hasattr(model, "module") and hasattr(model.module, "codes"):
        unused = (model.module.codes.sizes == 0).sum().item()
        scores["unused"] = unused
        return scores
    return scores

evaluate(DDP(net), {})
