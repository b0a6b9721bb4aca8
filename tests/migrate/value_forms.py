"""Programs in which a value comes from another, again and again, in every form that Python has for it."""

from __future__ import annotations

from collections.abc import Iterator

# How one value is made of the one before.
FORMS = {
    "name": "{new} = {old}",
    "sum": "{new} = {old} + {old}",
    "choice": "{new} = {old} if args.a else {old}",
    "either": "{new} = {old} or {old}",
    "call": "{new} = same({old})",
    "two calls": "{new} = both({old}, {old})",
    "method": "{new} = {old}.map(abs)",
    "telling method": "{new} = {old}.shuffle(8)",
    "tuple": "{new}, other = {old}, {old}",
    "list": "{new} = [{old}, {old}][0]",
    "entry": 'box["{new}"] = {old}\n{new} = box["{new}"]',
    "attribute": "box.{new} = {old}\n{new} = box.{new}",
    "one attribute": "box.value = {old}\n{new} = box.value",
    "appended": "held.append({old})\n{new} = held[-1]",
    "loop": "for {new} in [{old}, {old}]:\n    pass",
    "comprehension": "{new} = [{old} for each in {old}]",
    "lambda": "{new} = (lambda given: given)({old})",
    "with": "with {old} as {new}:\n    pass",
    "walrus": "print({new} := {old})",
    "slice": "{new} = {old}[{old} : {old}]",
    "comparison": "{new} = {old} == {old}",
    "text": '{new} = f"{{{old}}}/{{{old}}}"',
    "range": "{new} = range({old}, len(data), {old})",
    "changed": "{new} = {old}\n{new} += {old}",
    "tested": "if {old}:\n    {new} = {old}\nelse:\n    {new} = 0",
    "function": "def made_{new}():\n    return {old}\n{new} = made_{new}()",
    "object": "{new} = Holder({old}).value",
}
HEAD = """\
import argparse

{imports}
args = argparse.ArgumentParser().parse_args()
box, held = argparse.Namespace(), []


class Holder:
    def __init__(self, value):
        self.value = value


def same(given):
    return given


def both(one, other):
    return one if args.b else other


"""
# Where the value is used: as everything that hvdkit follows.
TORCH = """\
{hvd}
model = torch.nn.Linear(4, 1)
optimizer = {wrapped}(torch.optim.SGD(model.parameters(), lr=0.1 * {last}))
data = torch.utils.data.TensorDataset(torch.ones(8, 4))
loader = torch.utils.data.DataLoader(data, batch_size=2, sampler={last}, shuffle={last})
for epoch in range({last}):
    for (x,) in loader:
        loss = model(x).sum() * {last}
        optimizer.zero_grad()
        loss.backward()
        if {last} == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    if {last} > 3:
        break
if {last} == 0:
    torch.save(model.state_dict(), str({last}))
    open(f"{{{last}}}.txt", "w").write(str({last}))
part = data[{last} :: 2]
"""
KERAS = """\
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(tf.keras.optimizers.SGD(0.1), "mse")
model.fit({last}, epochs=2, steps_per_epoch=8)
for batch in {last}:
    model.train_on_batch(batch)
"""
FIRST = {
    "torch": "args.first",
    "horovod": "hvd.rank()",
    "tensorflow": "tf.data.Dataset.range(8)",
}


def program(library: str, form: str, shape: str, links: int) -> str:
    """A program that follows `form` from one value to the next, as a chain, under tests, or in a circle."""
    imports = "import tensorflow as tf" if library == "tensorflow" else "import torch"
    start = (
        ["import horovod.torch as hvd", "hvd.init()", "torch.manual_seed(1)"] if library == "horovod" else []
    )
    lines = [*start, f"v0 = {FIRST[library]}", *_links(FORMS[form], shape, links)]
    last = f"v{links}" if shape == "chain" else "v0"
    if library == "tensorflow":
        uses = KERAS.format(last=last)
    else:
        wrapped = "hvd.DistributedOptimizer" if library == "horovod" else ""
        sent = "value = hvd.allreduce(torch.ones(1))" if library == "horovod" else ""
        uses = TORCH.format(last=last, wrapped=wrapped, hvd=sent)
    return HEAD.format(imports=imports) + "\n".join(lines) + "\n" + uses


def _links(form: str, shape: str, links: int) -> Iterator[str]:
    if shape == "circle":
        yield "for turn in args.turns:"
    for n in range(links):
        if shape == "chain":
            yield form.format(old=f"v{n}", new=f"v{n + 1}")
        else:
            yield f"    if turn == {n}:" if shape == "circle" else f"if args.option{n}:"
            indent = "        " if shape == "circle" else "    "
            yield from (indent + line for line in form.format(old="v0", new="v0").splitlines())
