"""HVD404: gradients that are looked at before the step are reduced right after backward, as DDP has them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.engines import more_than_steps
from hvdkit.migrate.facts.models.syncing import steps_unreduced
from hvdkit.migrate.facts.optimizers.naming import optimizer_names, plain_target
from hvdkit.migrate.facts.optimizers.passes import Group, Step
from hvdkit.migrate.facts.optimizers.repeated import repeated
from hvdkit.migrate.facts.optimizers.told_apart import not_told_apart
from hvdkit.migrate.facts.optimizers.unfollowed import unfollowed_steps
from hvdkit.migrate.facts.optimizers.waits import (
    if_there,
    is_awaited,
    looked_at_before,
    made_under_test,
    reduced_above,
    reduced_below,
    skips,
    waiting_place,
)
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule

UNFOLLOWED = (
    "gradients are looked at before this step of something unknown, and where the program's optimizer steps was not "
    "found: it may be here, before the averages are there"
)
MADE_HERE = (
    "give the optimizer to this function in a call that can be followed (not by a name in a registry), or call "
    "optimizer.synchronize() after backward(), and step under optimizer.skip_synchronize()"
)
IN_LIBRARY = (
    "this trainer of ignite's scales the loss, or steps after several backward passes, in the library: nothing can "
    "wait there for the averages"
)
OWN_UPDATE = "write the update function, hand it to ignite.engine.Engine, and run hvdkit migrate again"
OWN_STEP = (
    "this step is where no_sync() may hold: DDP takes it by each rank's own gradients, and Horovod's optimizer "
    "averages before each of its steps"
)
LAST = "let the last backward pass before the step run outside no_sync()"
SEVERAL = "one function steps several optimizers: whose hooks its backward() runs is not known"
APART = "call backward() and step() of each optimizer where they can be told apart, as in a GAN"
NEVER_REDUCED = "every backward pass of this step is under no_sync(): DDP never averages its gradients"
TOO_EARLY = "gradients are looked at here, right after backward(), and the optimizer that has to average them first has no name"
AGAIN = (
    "several backward passes run here before the caller can wait for the first one's gradients, where Horovod's hooks "
    "stop, and the optimizer has no name"
)
WAIT_THERE = "give the optimizer to this function, too, and call its synchronize() after each backward()"
NAME_IT = "give the optimizer to this function, too, or look at the gradients where it is called"


def check(facts: Facts) -> Iterator[Finding]:
    for group in facts.steps.groups:
        step = group.steps[0]
        windows = [each for each in group.steps if steps_unreduced(each.names, each.call)]
        if not_told_apart(facts, group):
            if facts.migrates(step.names):
                yield facts.refused("HVD404", step.names, step.call, SEVERAL, APART)
        elif group.unreduced:
            if "ddp" in facts.kinds(step.names):
                yield facts.refused("HVD404", step.names, step.call, NEVER_REDUCED, LAST)
        elif windows and "ddp" in facts.kinds(windows[0].names):
            yield facts.refused("HVD404", windows[0].names, windows[0].call, OWN_STEP, LAST)
        elif group.reason and is_awaited(facts, group):
            yield from _awaited(facts, group)
        elif group.reason and not all(skips(each.names, each.call) for each in group.steps):
            if facts.migrates(step.names):
                name = plain_target(step) or "optimizer"
                message = f"{group.reason}, and the backward pass that makes them was not found"
                advice = (
                    f"call {name}.synchronize() after backward(), and step under {name}.skip_synchronize()"
                )
                yield facts.refused("HVD404", step.names, step.call, message, advice)
    for names, call in more_than_steps(facts):
        if facts.migrates(names):
            yield facts.refused("HVD404", names, call, IN_LIBRARY, OWN_UPDATE)
    for names, call in unfollowed_steps(facts):
        yield facts.refused("HVD404", names, call, UNFOLLOWED, MADE_HERE)


def _awaited(facts: Facts, group: Group) -> Iterator[Finding]:
    """The averages waited for where DDP has them, and the steps that do not reduce them again."""
    for backward in group.reduce_after:
        names, call = waiting_place(facts, backward, group)
        if facts.migrates(names):
            looks = looked_at_before(facts, backward) if call is not backward.call else None
            if looks is not None:
                yield facts.refused("HVD404", backward.names, looks, TOO_EARLY, NAME_IT)
            if call is not backward.call and repeated(backward, group.reduce_after):
                tell = facts.manual if _waits_beside(facts, group) else facts.refused
                yield tell("HVD404", backward.names, backward.call, AGAIN, WAIT_THERE)
            if not reduced_below(facts, names, call, group):
                message = f"{group.reason}: every rank waits here until they are averaged, as DDP does"
                yield facts.required("HVD404", names, call, message, _after_call, facts, names, call, group)
    for names, statement in group.reduce_before:
        if facts.migrates(names) and not reduced_above(facts, names, statement, group):
            message = f"{group.reason}: every rank waits here until they are averaged"
            make = (_before_statement, facts, names, statement, group)
            yield facts.required("HVD404", names, statement, message, *make)
    for step in group.steps if facts.options.target == "horovod" else ():
        if facts.migrates(step.names) and not skips(step.names, step.call):
            message = "the gradients are reduced already, so the step does not reduce them again"
            yield facts.required("HVD404", step.names, step.call, message, _skip, step)


def _waits_beside(facts: Facts, group: Group) -> bool:
    """Whether another pass for these steps is waited for beside it: the rest belongs to an option."""
    return any(waiting_place(facts, other, group)[1] is other.call for other in group.reduce_after)


def _after_call(facts: Facts, names: Names, call: ast.Call, group: Group) -> Edit:
    optimizers = optimizer_names(facts, names, call, [group])
    if not optimizers:
        raise edits.CannotEdit(f"{_which(facts, group)} has no name where backward() is called")
    if any(made_under_test(names, name, call, group) for name in optimizers):
        raise edits.CannotEdit("the optimizer is made and steps under a test, and backward() runs without it")
    return edits.after(names.source, names.statement(call), _waiting(facts, optimizers, call, group))


def _waiting(facts: Facts, optimizers: list[str], at: ast.AST, group: Group) -> list[str]:
    """The lines that wait for optimizers; of one that may be None, under the test that its step stands under."""
    lines: list[str] = []
    for name in optimizers:
        test = if_there(facts, name, at, group)
        lines += [f"if {test}:", f"\t{name}.synchronize()"] if test else [f"{name}.synchronize()"]
    return lines


def _which(facts: Facts, group: Group) -> str:
    """The first of a group's optimizers, by the place where it is made."""
    made = next(optimizer for optimizer in facts.optimizers if optimizer.value in group.optimizers)
    return f"the optimizer of {made.names.place(made.node)}"


def _before_statement(facts: Facts, names: Names, statement: ast.stmt, group: Group) -> Edit:
    optimizers = optimizer_names(facts, names, statement, [group])
    if not optimizers:
        raise edits.CannotEdit(f"{_which(facts, group)} has no name where its gradients are used")
    return edits.before(names.source, statement, _waiting(facts, optimizers, statement, group))


def _skip(step: Step) -> list[Edit]:
    statement = step.names.statement(step.call)
    name = plain_target(step)
    if name is None:
        raise edits.CannotEdit("the optimizer that steps is not a plain variable or attribute")
    return edits.enclose(step.names.source, [statement], f"with {name}.skip_synchronize():")


RULE = Rule(
    id="HVD404",
    title="gradients are reduced before they are looked at",
    what=(
        "Where gradients are clipped, unscaled, read, or added up over several backward passes, writes "
        "optimizer.synchronize() after backward() and steps inside optimizer.skip_synchronize()."
    ),
    why=(
        "DDP has averaged the gradients when backward() returns, Horovod only in step(). Clipping or a GradScaler "
        "in between would see the gradients of one rank, half reduced; an overflow on one rank would make that "
        "rank alone skip its step."
    ),
    safety=(
        "Safe: the average is ready where DDP had it ready, so everything behind sees the same numbers. With two "
        "ranks in float32 the weights are bit-identical. Gradients that add up over several backward passes are "
        "averaged at each of them, as DDP does without no_sync()."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            maker, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            makes = torch.optim.Adam(maker.parameters())
            judges = torch.optim.Adam(critic.parameters())
            for x in batches:
                makes.zero_grad()
                critic(maker(x)).sum().backward()
                makes.step()
                made = maker(x).detach()
                for _ in range(2):
                    judges.zero_grad()
                    critic(made).sum().backward()
                    judges.step()
            """,
            """\
            import torch

            maker, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            makes = torch.optim.Adam(maker.parameters())
            judges = torch.optim.Adam(critic.parameters())
            for x in batches:
                makes.zero_grad()
                critic(maker(x)).sum().backward()
                judges.synchronize()
                makes.step()
                made = maker(x).detach()
                for _ in range(2):
                    judges.zero_grad()
                    critic(made).sum().backward()
                    judges.synchronize()
                    with judges.skip_synchronize():
                        judges.step()
            """,
            note="The step of the other optimizer stands in a loop, behind a pass of its own.",
        ),
        Change(
            """\
            import torch

            def train(batches, net, optimizer):
                for x in batches:
                    optimizer.zero_grad()
                    net(x).sum().backward()
                    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                    optimizer.step()

            class Net(torch.nn.Linear):
                pass

            small = torch.nn.Linear(2, 1)
            large = torch.nn.Linear(2, 8)
            small_optimizer = torch.optim.Adam(small.parameters())
            large_optimizer = torch.optim.Adam(large.parameters())
            train(batches, small, small_optimizer)
            train(batches, large, large_optimizer)
            own = Net(2, 1)
            own_optimizer = torch.optim.Adam(own.parameters())
            train(batches, own, own_optimizer)
            same = Net(2, 1)
            same_optimizer = torch.optim.Adam(same.parameters())
            train(batches, same, same_optimizer)
            """,
            """\
            import torch

            def train(batches, net, optimizer):
                for x in batches:
                    optimizer.zero_grad()
                    net(x).sum().backward()
                    optimizer.synchronize()
                    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
                    with optimizer.skip_synchronize():
                        optimizer.step()

            class Net(torch.nn.Linear):
                pass

            small = torch.nn.Linear(2, 1)
            large = torch.nn.Linear(2, 8)
            small_optimizer = torch.optim.Adam(small.parameters())
            large_optimizer = torch.optim.Adam(large.parameters())
            train(batches, small, small_optimizer)
            train(batches, large, large_optimizer)
            own = Net(2, 1)
            own_optimizer = torch.optim.Adam(own.parameters())
            train(batches, own, own_optimizer)
            same = Net(2, 1)
            same_optimizer = torch.optim.Adam(same.parameters())
            train(batches, same, same_optimizer)
            """,
            note="One function for two models: each call has the optimizer that goes with its model.",
        ),
        Change(
            """\
            import torch

            class Gan:
                def __init__(self):
                    self.maker, self.critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                    self.makes = torch.optim.Adam(self.maker.parameters())
                    self.judges = torch.optim.Adam(self.critic.parameters())

                def begin(self, x):
                    self.critic(self.maker(x)).sum().backward()

                def update(self, x):
                    self.judges.zero_grad()
                    self.critic(x).sum().backward()
                    self.judges.step()
                    self.makes.zero_grad()
                    self.critic(self.maker(x)).sum().backward()
                    self.makes.step()

            gan = Gan()
            for number, x in enumerate(batches):
                if number == 0:
                    gan.begin(x)
                gan.update(x)
            """,
            """\
            import torch

            class Gan:
                def __init__(self):
                    self.maker, self.critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                    self.makes = torch.optim.Adam(self.maker.parameters())
                    self.judges = torch.optim.Adam(self.critic.parameters())

                def begin(self, x):
                    self.critic(self.maker(x)).sum().backward()
                    self.judges.synchronize()
                    self.makes.synchronize()

                def update(self, x):
                    self.judges.zero_grad()
                    self.critic(x).sum().backward()
                    self.judges.synchronize()
                    with self.judges.skip_synchronize():
                        self.judges.step()
                    self.makes.zero_grad()
                    self.critic(self.maker(x)).sum().backward()
                    self.judges.synchronize()
                    self.makes.synchronize()
                    with self.makes.skip_synchronize():
                        self.makes.step()

            gan = Gan()
            for number, x in enumerate(batches):
                if number == 0:
                    gan.begin(x)
                gan.update(x)
            """,
            note="A pass that no step follows starts the hooks as well.",
        ),
        Change(
            """\
            import torch

            def train(batches, decoder, decoder_optimizer, encoder, encoder_optimizer):
                for x in batches:
                    decoder_optimizer.zero_grad()
                    decoder(encoder(x)).sum().backward()
                    torch.nn.utils.clip_grad_norm_(decoder.parameters(), 5)
                    decoder_optimizer.step()
                    if encoder_optimizer is not None:
                        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 5)
                        encoder_optimizer.step()

            first = torch.optim.Adam(decoder.parameters())
            second = torch.optim.Adam(encoder.parameters()) if fine_tune else None
            train(batches, decoder, first, encoder, second)
            """,
            """\
            import torch

            def train(batches, decoder, decoder_optimizer, encoder, encoder_optimizer):
                for x in batches:
                    decoder_optimizer.zero_grad()
                    decoder(encoder(x)).sum().backward()
                    decoder_optimizer.synchronize()
                    if encoder_optimizer is not None:
                        encoder_optimizer.synchronize()
                    torch.nn.utils.clip_grad_norm_(decoder.parameters(), 5)
                    with decoder_optimizer.skip_synchronize():
                        decoder_optimizer.step()
                    if encoder_optimizer is not None:
                        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 5)
                        with encoder_optimizer.skip_synchronize():
                            encoder_optimizer.step()

            first = torch.optim.Adam(decoder.parameters())
            second = torch.optim.Adam(encoder.parameters()) if fine_tune else None
            train(batches, decoder, first, encoder, second)
            """,
            note="One of two optimizers may be None.",
        ),
        Change(
            """\
            import torch

            def train(batches, networks, optimizers, scaler):
                decoder, critic = networks
                decoder_optimizer, critic_optimizer = optimizers
                for x in batches:
                    made = decoder(x)
                    if critic is not None:
                        critic_optimizer.zero_grad()
                        scaler.scale(critic(made.detach()).sum()).backward()
                        scaler.step(critic_optimizer)
                    loss = made.sum()
                    if critic is not None:
                        loss = loss + critic(made).sum()
                    decoder_optimizer.zero_grad()
                    scaler.scale(loss).backward()
                    scaler.step(decoder_optimizer)
                    scaler.update()

            decoder = torch.nn.Linear(2, 2)
            critic = torch.nn.Linear(2, 1) if adversarial else None
            first = torch.optim.Adam(decoder.parameters())
            if critic is not None:
                second = torch.optim.Adam(critic.parameters())
            else:
                second = None
            train(batches, [decoder, critic], [first, second], torch.cuda.amp.GradScaler())
            """,
            """\
            import torch

            def train(batches, networks, optimizers, scaler):
                decoder, critic = networks
                decoder_optimizer, critic_optimizer = optimizers
                for x in batches:
                    made = decoder(x)
                    if critic is not None:
                        critic_optimizer.zero_grad()
                        scaler.scale(critic(made.detach()).sum()).backward()
                        critic_optimizer.synchronize()
                        with critic_optimizer.skip_synchronize():
                            scaler.step(critic_optimizer)
                    loss = made.sum()
                    if critic is not None:
                        loss = loss + critic(made).sum()
                    decoder_optimizer.zero_grad()
                    scaler.scale(loss).backward()
                    if critic_optimizer is not None:
                        critic_optimizer.synchronize()
                    decoder_optimizer.synchronize()
                    with decoder_optimizer.skip_synchronize():
                        scaler.step(decoder_optimizer)
                    scaler.update()

            decoder = torch.nn.Linear(2, 2)
            critic = torch.nn.Linear(2, 1) if adversarial else None
            first = torch.optim.Adam(decoder.parameters())
            if critic is not None:
                second = torch.optim.Adam(critic.parameters())
            else:
                second = None
            train(batches, [decoder, critic], [first, second], torch.cuda.amp.GradScaler())
            """,
            note="Its step stands under a test for its network.",
        ),
        Change(
            """\
            import torch
            from transformers import AdamW

            optimizer = AdamW(model.parameters(), lr=1e-3)
            for x in batches:
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import torch
            from transformers import AdamW

            optimizer = AdamW(model.parameters(), lr=1e-3)
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            files=(
                ("transformers/__init__.py", "from .optimization import AdamW\n"),
                (
                    "transformers/optimization.py",
                    "from torch.optim import Optimizer\n\n"
                    "class AdamW(Optimizer):\n"
                    "    def __init__(self, params, lr=1e-3):\n"
                    "        super().__init__(params, dict(lr=lr))\n",
                ),
            ),
            note="The project has a copy of the library that the optimizer is known from.",
        ),
        Change(
            """\
            import torch

            class Trainer:
                def __init__(self, **kwargs):
                    self.model = kwargs["model"]
                    self.optimizer = kwargs["optimizer"]
                    self.scaler = torch.cuda.amp.GradScaler()

                def epoch(self, batches, scale):
                    for x in batches:
                        self.scaler.scale(self.model(x).sum() * scale).backward()
                        self.scaler.step(self.optimizer)
                        self.scaler.update()

            trainer = Trainer(model=model, optimizer=torch.optim.Adam(model.parameters()))
            trainer.epoch(batches, 0.5)
            """,
            """\
            import torch

            class Trainer:
                def __init__(self, **kwargs):
                    self.model = kwargs["model"]
                    self.optimizer = kwargs["optimizer"]
                    self.scaler = torch.cuda.amp.GradScaler()

                def epoch(self, batches, scale):
                    for x in batches:
                        self.scaler.scale(self.model(x).sum() * scale).backward()
                        self.optimizer.synchronize()
                        with self.optimizer.skip_synchronize():
                            self.scaler.step(self.optimizer)
                        self.scaler.update()

            trainer = Trainer(model=model, optimizer=torch.optim.Adam(model.parameters()))
            trainer.epoch(batches, 0.5)
            """,
            note="What callers give by **kwargs is followed.",
        ),
        Change(
            """\
            import torch

            def train(model, optimizer, scaler, batches):
                for x in batches:
                    scaler.scale(model(x).sum()).backward()
                    scaler.step(optimizer)
                    scaler.update()

            optimizer = torch.optim.Adam(model.parameters())
            things = (model, optimizer, torch.cuda.amp.GradScaler())
            train(*things, batches)
            """,
            """\
            import torch

            def train(model, optimizer, scaler, batches):
                for x in batches:
                    scaler.scale(model(x).sum()).backward()
                    optimizer.synchronize()
                    with optimizer.skip_synchronize():
                        scaler.step(optimizer)
                    scaler.update()

            optimizer = torch.optim.Adam(model.parameters())
            things = (model, optimizer, torch.cuda.amp.GradScaler())
            train(*things, batches)
            """,
            note="So are the items of a tuple behind a star.",
        ),
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
        ),
        Change(
            """\
            import torch

            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.Adam(model.parameters())
                    self.scaler = torch.cuda.amp.GradScaler()

                def train(self, batches):
                    for x in batches:
                        self.scaler.scale(self.model(x).sum()).backward()
                        self.scaler.step(self.optimizer)
                        self.scaler.update()
            """,
            """\
            import torch

            class Trainer:
                def __init__(self, model):
                    self.model = model
                    self.optimizer = torch.optim.Adam(model.parameters())
                    self.scaler = torch.cuda.amp.GradScaler()

                def train(self, batches):
                    for x in batches:
                        self.scaler.scale(self.model(x).sum()).backward()
                        self.optimizer.synchronize()
                        self.scaler.step(self.optimizer)
                        self.scaler.update()
            """,
            target="hvdkit",
            note="The optimizer of hvdkit.torch remembers that it has reduced.",
        ),
        Change(
            """\
            import torch
            from helpers import Scaler

            optimizer = torch.optim.Adam(model.parameters())
            scaler = Scaler()
            for i, x in enumerate(batches):
                scaler(model(x).sum() / 4, optimizer, update=(i + 1) % 4 == 0)
                if (i + 1) % 4 == 0:
                    optimizer.zero_grad()
            """,
            """\
            import torch
            from helpers import Scaler

            optimizer = torch.optim.Adam(model.parameters())
            scaler = Scaler()
            for i, x in enumerate(batches):
                scaler(model(x).sum() / 4, optimizer, update=(i + 1) % 4 == 0)
                if (i + 1) % 4 == 0:
                    optimizer.zero_grad()
            """,
            note="What is to be written is written in the helper.",
            files=(
                (
                    "helpers.py",
                    "import torch\n\n\nclass Scaler:\n    def __init__(self):\n"
                    "        self._scaler = torch.cuda.amp.GradScaler()\n\n"
                    "    def __call__(self, loss, optimizer, update=True):\n"
                    "        self._scaler.scale(loss).backward()\n        if update:\n"
                    "            self._scaler.step(optimizer)\n            self._scaler.update()\n",
                ),
            ),
        ),
        Change(
            """\
            import torch
            from apex import amp

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as loss: loss.backward()
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
                optimizer.step()
            """,
            """\
            import torch
            from apex import amp

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as loss: loss.backward(); optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(amp.master_params(optimizer), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            note="On the line of its block.",
        ),
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                loss = model(x).sum() / 4
                loss.backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
                    optimizer.zero_grad()
            """,
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                loss = model(x).sum() / 4
                loss.backward()
                optimizer.synchronize()
                if (i + 1) % 4 == 0:
                    with optimizer.skip_synchronize():
                        optimizer.step()
                    optimizer.zero_grad()
            """,
        ),
        Change(
            """\
            import torch

            G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            opt_g = torch.optim.Adam(G.parameters())
            opt_d = torch.optim.Adam(D.parameters())
            for real in batches:
                fake = G(noise())
                opt_d.zero_grad()
                loss_d = D(fake.detach()).mean() - D(real).mean()
                loss_d.backward()
                opt_d.step()
                opt_g.zero_grad()
                loss_g = -D(fake).mean()
                loss_g.backward()
                opt_g.step()
            """,
            """\
            import torch

            G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            opt_g = torch.optim.Adam(G.parameters())
            opt_d = torch.optim.Adam(D.parameters())
            for real in batches:
                fake = G(noise())
                opt_d.zero_grad()
                loss_d = D(fake.detach()).mean() - D(real).mean()
                loss_d.backward()
                opt_d.synchronize()
                with opt_d.skip_synchronize():
                    opt_d.step()
                opt_g.zero_grad()
                loss_g = -D(fake).mean()
                loss_g.backward()
                opt_d.synchronize()
                opt_g.step()
            """,
        ),
        Change(
            """\
            import torch

            actor, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            target = torch.nn.Linear(2, 1)
            actor_optimizer = torch.optim.Adam(actor.parameters())
            critic_optimizer = torch.optim.Adam(critic.parameters())
            if args.autotune:
                log_alpha = torch.zeros(1, requires_grad=True)
                alpha = log_alpha.exp().item()
                alpha_optimizer = torch.optim.Adam([log_alpha])
            for x in batches:
                with torch.no_grad():
                    wanted = target(actor(x)) - alpha
                critic_optimizer.zero_grad()
                (critic(x) - wanted).pow(2).mean().backward()
                critic_optimizer.step()
                actor_loss = (alpha * actor(x).sum(1) - critic(actor(x))).mean()
                actor_optimizer.zero_grad()
                actor_loss.backward()
                actor_optimizer.step()
                if args.autotune:
                    alpha_loss = (-log_alpha.exp() * (x.sum(1) + 2)).mean()
                    alpha_optimizer.zero_grad()
                    alpha_loss.backward()
                    alpha_optimizer.step()
                    alpha = log_alpha.exp().item()
            """,
            """\
            import torch

            actor, critic = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            target = torch.nn.Linear(2, 1)
            actor_optimizer = torch.optim.Adam(actor.parameters())
            critic_optimizer = torch.optim.Adam(critic.parameters())
            if args.autotune:
                log_alpha = torch.zeros(1, requires_grad=True)
                alpha = log_alpha.exp().item()
                alpha_optimizer = torch.optim.Adam([log_alpha])
            for x in batches:
                with torch.no_grad():
                    wanted = target(actor(x)) - alpha
                critic_optimizer.zero_grad()
                (critic(x) - wanted).pow(2).mean().backward()
                critic_optimizer.synchronize()
                with critic_optimizer.skip_synchronize():
                    critic_optimizer.step()
                actor_loss = (alpha * actor(x).sum(1) - critic(actor(x))).mean()
                actor_optimizer.zero_grad()
                actor_loss.backward()
                critic_optimizer.synchronize()
                actor_optimizer.synchronize()
                with actor_optimizer.skip_synchronize():
                    actor_optimizer.step()
                if args.autotune:
                    alpha_loss = (-log_alpha.exp() * (x.sum(1) + 2)).mean()
                    alpha_optimizer.zero_grad()
                    alpha_loss.backward()
                    critic_optimizer.synchronize()
                    actor_optimizer.synchronize()
                    alpha_optimizer.step()
                    alpha = log_alpha.exp().item()
            """,
            note=(
                "SAC: what is computed without gradients leads nowhere, and a tensor that an optimizer trains alone "
                "is reached by the losses that are computed from it. Of a loss in which no model is seen, it is not "
                "known which it reaches: waiting once more is slow, and not wrong."
            ),
        ),
        Change(
            """\
            import torch

            class Nets:
                def __init__(self):
                    self.G, self.D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

                def optimizers(self):
                    return torch.optim.Adam(self.G.parameters()), torch.optim.Adam(self.D.parameters())

            class Trainer:
                def __init__(self):
                    self.nets = Nets()
                    self.opt_g, self.opt_d = self.nets.optimizers()

                def generate(self, real):
                    self.opt_g.zero_grad()
                    (-self.nets.D(self.nets.G(noise())).mean()).backward()
                    self.opt_g.step()

                def discriminate(self, real):
                    self.opt_d.zero_grad()
                    self.nets.D(real).mean().backward()
                    self.opt_d.step()

            trainer = Trainer()
            for real in batches:
                trainer.generate(real)
                trainer.discriminate(real)
            """,
            """\
            import torch

            class Nets:
                def __init__(self):
                    self.G, self.D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)

                def optimizers(self):
                    return torch.optim.Adam(self.G.parameters()), torch.optim.Adam(self.D.parameters())

            class Trainer:
                def __init__(self):
                    self.nets = Nets()
                    self.opt_g, self.opt_d = self.nets.optimizers()

                def generate(self, real):
                    self.opt_g.zero_grad()
                    (-self.nets.D(self.nets.G(noise())).mean()).backward()
                    self.opt_d.synchronize()
                    self.opt_g.step()

                def discriminate(self, real):
                    self.opt_d.zero_grad()
                    self.nets.D(real).mean().backward()
                    self.opt_d.synchronize()
                    with self.opt_d.skip_synchronize():
                        self.opt_d.step()

            trainer = Trainer()
            for real in batches:
                trainer.generate(real)
                trainer.discriminate(real)
            """,
            note="Each in a function of its own: Horovod refuses zero_grad() while the other pass's averages run.",
        ),
        Change(
            """\
            import torch
            from apex import amp

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model, optimizer = amp.initialize(model, optimizer)
            for x in batches:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
                    scaled_loss.backward()
                optimizer.step()
            """,
            """\
            import torch
            from apex import amp

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model, optimizer = amp.initialize(model, optimizer)
            for x in batches:
                optimizer.zero_grad()
                with amp.scale_loss(model(x).sum(), optimizer) as scaled_loss:
                    scaled_loss.backward()
                    optimizer.synchronize()
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            note="HVD911 leaves apex itself to the person.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def norm(parameters):
                return torch.stack([p.grad.norm() for p in parameters]).norm()

            def loss_of(x):
                return model(x).sum()

            for x in batches:
                optimizer.zero_grad()
                torch.autograd.backward(loss_of(x))
                print(norm(model.parameters()))
                optimizer.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def norm(parameters):
                return torch.stack([p.grad.norm() for p in parameters]).norm()

            def loss_of(x):
                return model(x).sum()

            for x in batches:
                optimizer.zero_grad()
                torch.autograd.backward(loss_of(x))
                optimizer.synchronize()
                print(norm(model.parameters()))
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            note="A helper of the project looks at the gradients; another one computes the loss.",
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self):
                    self.model = DDP(torch.nn.Linear(2, 1))
                    self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

                def backward(self, x):
                    loss = self.model(x).sum()
                    loss.backward()

                def clip(self):
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

                def update(self):
                    self.clip()
                    self.optimizer.step()

                def train(self, batches):
                    for x in batches:
                        self.optimizer.zero_grad()
                        self.backward(x)
                        self.update()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            class Trainer:
                def __init__(self):
                    self.model = DDP(torch.nn.Linear(2, 1))
                    self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

                def backward(self, x):
                    loss = self.model(x).sum()
                    loss.backward()
                    self.optimizer.synchronize()

                def clip(self):
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)

                def update(self):
                    self.clip()
                    with self.optimizer.skip_synchronize():
                        self.optimizer.step()

                def train(self, batches):
                    for x in batches:
                        self.optimizer.zero_grad()
                        self.backward(x)
                        self.update()
            """,
            note=(
                "A method of the name backward: what it calls is the backward pass, and its own call is not "
                "a second one."
            ),
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            gen = DDP(torch.nn.Linear(2, 2))
            dis = DDP(torch.nn.Linear(2, 1))
            gen_opt = torch.optim.Adam(gen.parameters())
            dis_opt = torch.optim.Adam(dis.parameters())

            def score(x):
                return dis(x).mean()

            def dis_loss(real):
                fake = gen(real).detach()
                return score(real) - score(fake.data)

            def gen_loss(real):
                return score(gen(real))

            for real in batches:
                dis_opt.zero_grad()
                torch.autograd.backward(dis_loss(real))
                dis_opt.step()
                gen_opt.zero_grad()
                gen_loss(real).backward()
                gen_opt.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            gen = DDP(torch.nn.Linear(2, 2))
            dis = DDP(torch.nn.Linear(2, 1))
            gen_opt = torch.optim.Adam(gen.parameters())
            dis_opt = torch.optim.Adam(dis.parameters())

            def score(x):
                return dis(x).mean()

            def dis_loss(real):
                fake = gen(real).detach()
                return score(real) - score(fake.data)

            def gen_loss(real):
                return score(gen(real))

            for real in batches:
                dis_opt.zero_grad()
                torch.autograd.backward(dis_loss(real))
                dis_opt.synchronize()
                gen_opt.synchronize()
                with dis_opt.skip_synchronize():
                    dis_opt.step()
                gen_opt.zero_grad()
                gen_loss(real).backward()
                dis_opt.synchronize()
                gen_opt.synchronize()
                with gen_opt.skip_synchronize():
                    gen_opt.step()
            """,
            note=(
                "A GAN whose losses are the project's functions: a model that one of them calls is waited "
                "for once too often rather than once too seldom."
            ),
        ),
        Change(
            """\
            import torch
            from contextlib import nullcontext
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                with nullcontext() if i % 4 == 3 else model.no_sync():
                    model(x).sum().backward()
                if i % 4 == 3:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    optimizer.zero_grad()
            """,
            """\
            import torch
            from contextlib import nullcontext
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for i, x in enumerate(batches):
                with nullcontext() if i % 4 == 3 else model.no_sync():
                    model(x).sum().backward()
                if i % 4 == 3:
                    optimizer.synchronize()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    with optimizer.skip_synchronize():
                        optimizer.step()
                    optimizer.zero_grad()
            """,
            note=(
                "Whether a backward pass reduces is tested; where the step is taken, the gradients are "
                "waited for above what looks at them."
            ),
        ),
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                loss = model(x).sum()
                loss.backward()
                if skip(x):
                    continue
                optimizer.step()
            """,
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                loss = model(x).sum()
                loss.backward()
                optimizer.synchronize()
                if skip(x):
                    continue
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            note="A batch that is skipped after its backward pass.",
        ),
        Change(
            """\
            import torch

            class Scheduled:
                def __init__(self, model):
                    self._optimizer = torch.optim.Adam(model.parameters())

                def step_and_update(self):
                    self._optimizer.step()

            def main(x):
                model = torch.nn.Linear(2, 1)
                optimizer = Scheduled(model)
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step_and_update()
            """,
            """\
            import torch

            class Scheduled:
                def __init__(self, model):
                    self._optimizer = torch.optim.Adam(model.parameters())

                def step_and_update(self):
                    with self._optimizer.skip_synchronize():
                        self._optimizer.step()

            def main(x):
                model = torch.nn.Linear(2, 1)
                optimizer = Scheduled(model)
                model(x).sum().backward()
                optimizer._optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step_and_update()
            """,
            note="The optimizer is an attribute of a variable that is there.",
        ),
        Change(
            """\
            import torch

            class Solver:
                def make(self, kind, parameters, rate):
                    if kind == "adam":
                        optimizer = torch.optim.Adam(parameters, rate)
                    else:
                        optimizer = torch.optim.SGD(parameters, rate)
                    return optimizer

            class Gan(Solver):
                def __init__(self):
                    self.G, self.D = Generator(), Discriminator()
                    self.opt_g = self.make("adam", self.G.parameters(), 0.1)
                    self.opt_d = self.make("sgd", self.D.parameters(), 0.1)

                def train(self, real):
                    self.opt_d.zero_grad()
                    (self.D(self.G(noise()).detach()) - self.D(real)).mean().backward()
                    self.opt_d.step()
                    self.opt_g.zero_grad()
                    (-self.D(self.G(noise()))).mean().backward()
                    self.opt_g.step()
            """,
            """\
            import torch

            class Solver:
                def make(self, kind, parameters, rate):
                    if kind == "adam":
                        optimizer = torch.optim.Adam(parameters, rate)
                    else:
                        optimizer = torch.optim.SGD(parameters, rate)
                    return optimizer

            class Gan(Solver):
                def __init__(self):
                    self.G, self.D = Generator(), Discriminator()
                    self.opt_g = self.make("adam", self.G.parameters(), 0.1)
                    self.opt_d = self.make("sgd", self.D.parameters(), 0.1)

                def train(self, real):
                    self.opt_d.zero_grad()
                    (self.D(self.G(noise()).detach()) - self.D(real)).mean().backward()
                    self.opt_d.synchronize()
                    with self.opt_d.skip_synchronize():
                        self.opt_d.step()
                    self.opt_g.zero_grad()
                    (-self.D(self.G(noise()))).mean().backward()
                    self.opt_d.synchronize()
                    self.opt_g.step()
            """,
            note="One method makes the optimizers of both: each call of it makes another one.",
        ),
        Change(
            """\
            import torch

            class Passes:
                def __init__(self, model, scaler):
                    self.model, self.scaler, self.made = model, scaler, None

                def run(self, x):
                    self.scaler.scale(self.model(x).sum()).backward()

                def optimized(self, function):
                    return function

                @property
                def train(self):
                    if self.made is None:
                        self.made = self.optimized(self.run)
                    return self.made

            class Trainer:
                def __init__(self, model, passes):
                    self.passes = passes
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def step(self, x):
                    self.passes.train(x)
                    self.passes.scaler.step(self.optimizer)

            model = torch.nn.Linear(2, 1)
            trainer = Trainer(model, Passes(model, torch.amp.GradScaler("cuda")))
            for x in batches:
                trainer.step(x)
            """,
            """\
            import torch

            class Passes:
                def __init__(self, model, scaler):
                    self.model, self.scaler, self.made = model, scaler, None

                def run(self, x):
                    self.scaler.scale(self.model(x).sum()).backward()

                def optimized(self, function):
                    return function

                @property
                def train(self):
                    if self.made is None:
                        self.made = self.optimized(self.run)
                    return self.made

            class Trainer:
                def __init__(self, model, passes):
                    self.passes = passes
                    self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

                def step(self, x):
                    self.passes.train(x)
                    self.optimizer.synchronize()
                    with self.optimizer.skip_synchronize():
                        self.passes.scaler.step(self.optimizer)

            model = torch.nn.Linear(2, 1)
            trainer = Trainer(model, Passes(model, torch.amp.GradScaler("cuda")))
            for x in batches:
                trainer.step(x)
            """,
            note="The backward pass is in a function that another class keeps, and gives by a property.",
        ),
        Change(
            """\
            import torch
            from contextlib import nullcontext
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cuda")
            for x in first:
                model(x).sum().backward()
            model.zero_grad()
            for i, x in enumerate(batches):
                last = i % 4 == 3
                with nullcontext() if last else model.no_sync():
                    scaler.scale(model(x).sum()).backward()
                if last:
                    scaler.step(optimizer)
                    scaler.update()
            """,
            """\
            import torch
            from contextlib import nullcontext
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cuda")
            for x in first:
                model(x).sum().backward()
                optimizer.synchronize()
            model.zero_grad()
            for i, x in enumerate(batches):
                last = i % 4 == 3
                with nullcontext() if last else model.no_sync():
                    scaler.scale(model(x).sum()).backward()
                if last:
                    optimizer.synchronize()
                    with optimizer.skip_synchronize():
                        scaler.step(optimizer)
                    scaler.update()
            """,
            note="Passes that always reduce are waited for where they are, those that a test decides about before the step.",
        ),
        Change(
            """\
            import torch

            class Paired:
                def __init__(self):
                    self.G, self.D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                    self.opt_g = torch.optim.Adam(self.G.parameters())
                    self.opt_d = torch.optim.Adam(self.D.parameters())

                def judge(self, x):
                    self.opt_d.zero_grad()
                    self.loss = self.D(self.G(x).detach()).mean()
                    self.loss.backward()
                    self.opt_d.step()

                def draw(self, x):
                    self.opt_g.zero_grad()
                    self.loss = -self.D(self.G(x)).mean()
                    self.loss.backward()
                    self.opt_g.step()

            class Alone:
                def __init__(self):
                    self.G, self.D = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
                    self.opt_g = torch.optim.SGD(self.G.parameters(), lr=0.1)
                    self.opt_d = torch.optim.SGD(self.D.parameters(), lr=0.1)

                def judge(self, x):
                    self.opt_d.zero_grad()
                    self.D(self.G(x).detach()).mean().backward()
                    self.opt_d.step()

                def draw(self, x):
                    self.opt_g.zero_grad()
                    (-self.G(x)).mean().backward()
                    self.opt_g.step()

            trainer = Paired() if paired else Alone()
            for x in batches:
                trainer.judge(x)
                trainer.draw(x)
            """,
            """\
            import torch

            class Paired:
                def __init__(self):
                    self.G, self.D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
                    self.opt_g = torch.optim.Adam(self.G.parameters())
                    self.opt_d = torch.optim.Adam(self.D.parameters())

                def judge(self, x):
                    self.opt_d.zero_grad()
                    self.loss = self.D(self.G(x).detach()).mean()
                    self.loss.backward()
                    self.opt_d.synchronize()
                    with self.opt_d.skip_synchronize():
                        self.opt_d.step()

                def draw(self, x):
                    self.opt_g.zero_grad()
                    self.loss = -self.D(self.G(x)).mean()
                    self.loss.backward()
                    self.opt_d.synchronize()
                    self.opt_g.step()

            class Alone:
                def __init__(self):
                    self.G, self.D = torch.nn.Linear(3, 3), torch.nn.Linear(3, 1)
                    self.opt_g = torch.optim.SGD(self.G.parameters(), lr=0.1)
                    self.opt_d = torch.optim.SGD(self.D.parameters(), lr=0.1)

                def judge(self, x):
                    self.opt_d.zero_grad()
                    self.D(self.G(x).detach()).mean().backward()
                    self.opt_d.step()

                def draw(self, x):
                    self.opt_g.zero_grad()
                    (-self.G(x)).mean().backward()
                    self.opt_g.step()

            trainer = Paired() if paired else Alone()
            for x in batches:
                trainer.judge(x)
                trainer.draw(x)
            """,
            note="A trainer is of one class or of the other: only in the first one do both backward passes meet.",
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch
            from sometools import Warmed

            model = torch.nn.Linear(2, 1)
            inner = torch.optim.Adam(model.parameters())
            optimizer = Warmed(inner, steps=100)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            reason="a library's object takes the steps of the optimizer that it was given, or does not",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from sometools import Warmed

            model = torch.nn.Linear(2, 1)
            inner = torch.optim.Adam(model.parameters())
            optimizer = Warmed(inner, steps=100)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="nothing looks at the gradients: the step that it takes reduces them",
        ),
        Keep(
            """\
            import torch

            class Trainer:
                def __init__(self, net):
                    self.net, self.optimizers = net, {}
                    self.optimizers["net"] = torch.optim.SGD(net.parameters(), lr=0.1)

                def update(self, x):
                    optimizers = [self.optimizers[key] for key in self.optimizers.keys()]
                    self.net(x).sum().backward()
                    torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                    for optimizer in optimizers:
                        optimizer.step()

            Trainer(torch.nn.Linear(2, 1)).update(x)
            """,
            reason="the gradients are clipped above a loop over optimizers that could not be followed",
            reported=True,
        ),
        Keep(
            """\
            import torch

            def passes(net, x):
                net(x).sum().backward()
                net(-x).sum().backward()

            net = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                passes(net, x)
                optimizer.step()
            """,
            reason="the second pass would meet gradients that are under way, and there is no optimizer to wait with",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from ignite.engine import create_supervised_trainer

            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            trainer = create_supervised_trainer(model, optimizer, torch.nn.functional.mse_loss, amp_mode="amp", scaler=True)
            trainer.run(batches, max_epochs=3)
            """,
            reason="the library's GradScaler looks at the gradients before it steps",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def backward(loss, params):
                loss.backward()
                return sum(p.grad.norm() ** 2 for p in params) ** 0.5

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                norm = backward(model(x).sum(), list(model.parameters()))
                if norm < 10:
                    optimizer.step()
            """,
            reason="the norm is taken before anything could wait for the averages: below the call is too late",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from somewhere import registry

            class Trainer:
                def epoch(self, model, optimizer, scaler, batches):
                    for x in batches:
                        scaler.scale(model(x).sum()).backward()
                        scaler.step(optimizer)
                        scaler.update()

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            registry["trainer"]().epoch(model, optimizer, torch.amp.GradScaler("cuda"), batches)
            """,
            reason="which optimizer steps here is not known, nor whether its averages are there",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from somewhere import registry

            class Trainer:
                def epoch(self, model, optimizer, batches):
                    for x in batches:
                        model(x).sum().backward()
                        optimizer.step()

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            registry["trainer"]().epoch(model, optimizer, batches)
            """,
            reason="a plain step() waits for the averages itself, whichever optimizer steps",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel

            model = DistributedDataParallel(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            scaler = torch.amp.GradScaler("cuda")
            for x in batches:
                library.differentiate(scaler.scale(model(x).sum()))
                scaler.step(optimizer)
                scaler.update()
            """,
            reason="where the backward pass is was not found: after it, every rank has to wait",
            reported=True,
        ),
        Keep(
            """\
            import torch

            def discriminate(D, optimizer, real, fake):
                optimizer.zero_grad()
                (D(fake).mean() - D(real).mean()).backward()
                optimizer.step()

            def generate(G, D, optimizer):
                D.requires_grad_(False)
                optimizer.zero_grad()
                (-D(G(noise())).mean()).backward()
                optimizer.step()
                D.requires_grad_(True)

            G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            opt_g = torch.optim.Adam(G.parameters())
            opt_d = torch.optim.Adam(D.parameters())
            for real in batches:
                discriminate(D, opt_d, real, G(noise()).detach())
                generate(G, D, opt_g)
            """,
            reason="frozen parameters get no gradients, and their hooks do not run",
        ),
        Keep(
            """\
            import torch

            model = torch.nn.Linear(2, 1)
            if args.use_optimizer:
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in data:
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                if args.use_optimizer:
                    optimizer.step()
                else:
                    for p in model.parameters():
                        p.data.add_(p.grad, alpha=-0.1)
            """,
            reason="without the setting there is no optimizer that could reduce the gradients",
            reported=True,
        ),
        Keep(
            """\
            import torch

            x = torch.ones(1, requires_grad=True)
            (2 * x).backward()
            print(x.grad)
            model = torch.nn.Linear(1, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="the first backward pass has run when the optimizer is made",
        ),
        Keep(
            """\
            import torch
            from sizes import fitting
            from torch.nn.parallel import DistributedDataParallel as DDP

            def smart_optimizer(model):
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                return optimizer

            def train(model, size, epochs):
                if size == -1:
                    size = fitting(model)
                optimizer = smart_optimizer(model)
                for epoch in range(epochs):
                    for x in batches(size):
                        model(x).sum().backward()
                        optimizer.synchronize()
                        torch.nn.utils.clip_grad_norm_(model.parameters(), 10.0)
                        with optimizer.skip_synchronize():
                            optimizer.step()

            train(DDP(net), -1, 3)
            """,
            reason="the batch size was found by trial passes before a helper makes the optimizer",
            files=(
                (
                    "sizes.py",
                    "def fitting(model):\n    model(torch.ones(1, 3)).sum().backward()\n    return 16\n",
                ),
            ),
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            def make(encoder, decoder):
                one = torch.optim.SGD(encoder.parameters(), lr=0.1)
                two = torch.optim.SGD(decoder.parameters(), lr=0.01)
                return (one, two)

            def train(model, optimizers):
                for x in batches:
                    model.zero_grad()
                    model(x).sum().backward()
                    for optimizer in optimizers:
                        optimizer.step()

            encoder, decoder = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            optimizers = make(encoder, decoder)
            train(DDP(torch.nn.Sequential(encoder, decoder)), optimizers)
            """,
            reason="all of them step right after each backward pass: each step() reduces its own gradients",
        ),
        Keep(
            """\
            import torch

            def train(optimizers, loss):
                loss.backward()
                for optimizer in optimizers:
                    optimizer.step()

            G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            opt_g = torch.optim.Adam(G.parameters())
            opt_d = torch.optim.Adam(D.parameters())
            train([opt_d], D(G(x).detach()).sum())
            train([opt_g], D(G(x)).sum())
            """,
            reason="not the same optimizers each time: the second backward pass runs hooks of the first",
            reported=True,
        ),
        Keep(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for x in batches:
                optimizer.zero_grad()
                loss = model(x).sum()
                loss.backward()
                optimizer.step()
                print(loss.item())
            """,
            reason="nothing looks at the gradients: step() reduces them",
        ),
        Keep(
            """\
            import torch

            def train(loss, optimizer):
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

            G, D = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
            opt_g = torch.optim.Adam(G.parameters())
            opt_d = torch.optim.Adam(D.parameters())
            train(D(G(x).detach()).sum(), opt_d)
            train(D(G(x)).sum(), opt_g)
            """,
            reason="the second loss goes through D as well, which the function cannot tell",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for batch in batches:
                optimizer.zero_grad()
                for x in batch:
                    with model.no_sync():
                        model(x).sum().backward()
                optimizer.step()
            """,
            reason="no pass reduces: each rank trains a model of its own, and Horovod's step would average them",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            for batch in batches:
                with model.no_sync():
                    for x in batch[1:]:
                        optimizer.zero_grad()
                        model(x).sum().backward()
                        optimizer.step()
                optimizer.zero_grad()
                model(batch[0]).sum().backward()
                optimizer.step()
            """,
            reason="DDP steps by each rank's own gradients there, and Horovod's optimizer would average: HVD416 does not",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            model(x).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            """,
            reason="the program uses Horovod already; hvdkit does not judge it here",
        ),
        Keep(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(torch.nn.Linear(2, 1))
            optimizers = {f"{kind}-0": torch.optim.SGD(model.parameters(), lr=0.1) for kind in ["sgd"]}
            for x in batches:
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizers["sgd" + "-0"].step()
            """,
            reason="the optimizer is in a dict under a name that is computed",
            reported=True,
        ),
    ),
)
