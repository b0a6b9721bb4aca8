# Kept: detectron2's predictor trains nothing

import torch
from detectron2.engine import DefaultPredictor

boxes = DefaultPredictor(cfg)(image)
