# Reported: the Trainer wraps the model in DDP by itself

import torch
from transformers import Trainer, TrainingArguments

Trainer(model, TrainingArguments("out")).train()
