from torch.utils.data import DataLoader

loader = DataLoader(data, shuffle=True)
for state["epoch"] in range(state["epoch"], 3):
    loader.sampler.set_epoch(state["epoch"])
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
while trainer.epoch < 9:
    loader.sampler.set_epoch(trainer.epoch)
    for x in loader:
        model(x).sum().backward()
        optimizer.step()
    trainer.epoch += 1
