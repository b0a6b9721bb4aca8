"""The models: how they are wrapped and looked through, their buffers, freezing and checkpoints."""
