# Kept: nothing starts a job of several processes

from lhotse.dataset import DynamicCutSampler

print(len(DynamicCutSampler(cuts, max_duration=200.0)))
