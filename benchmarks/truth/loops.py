"""The loop of a training, and what is done at the end of each epoch."""

from __future__ import annotations

from truth.choices import Choices
from truth.fragments import inner, reduced, where


def training_loop(choices: Choices, one_pass: list[str] | None = None) -> list[str]:
    """From before the first epoch to the end of the last. one_pass: the call of what trains an epoch."""
    body = [*(one_pass or train_pass(choices)), *_after(choices)]
    lines = [*_before(choices)]
    if choices["epochs"] == "for":
        lines += ["for epoch in range($begin, $args.epochs):", *_in(body)]
    else:
        body = [line.replace("break", "running = False") for line in body]
        lines += ["epoch = $begin", "running = True", "while running and epoch < $args.epochs:"]
        lines += _in([*body, "epoch += 1"])
    if choices["save"] == "last":
        lines += _by_one(choices, _save(choices, "last.pt", "$args.epochs - 1"))
    return lines


def _in(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _by_one(choices: Choices, lines: list[str]) -> list[str]:
    """Lines that one process of a distributed original runs."""
    return ["if $rank == 0:", *_in(lines)] if choices.distributed else lines


def _before(choices: Choices) -> list[str]:
    lines = ["$criterion = nn.MSELoss()"]
    if choices["stop"] == "list":
        lines += ["history = []"]
    if choices["stop"] == "class":
        lines += ["stop = Stop(1)"]
    if choices["stop"] in ("meter", "best") or choices["save"] == "best":
        lines += ['best = float("inf")']
    if choices["stop"] == "best":
        lines += ["worse = 0"]
    return lines


def train_pass(choices: Choices) -> list[str]:
    """One pass through the training data."""
    loader = '$loaders["train"]' if choices["loaders"] == "dictionary" else "$train_loader"
    lines = ["$model.train()", "total = 0.0"]
    if choices["stop"] == "meter":
        lines += ["losses = Meter()"]
    if choices.sometimes:
        lines = ["if $distributed:", "    $train_sampler.set_epoch(epoch)", *lines]
    elif choices.distributed:
        lines = ["$train_sampler.set_epoch(epoch)", *lines]
    accumulates = "accumulate" in choices["steps"]
    head = f"for i, (x, y) in enumerate({loader}):" if accumulates else f"for x, y in {loader}:"
    inside = ["x, y = x.to($device), y.to($device)", *_losses(choices)]
    loss, step = ("(loss / 2)" if accumulates else "loss"), _step(choices)
    backward = f"{loss}.backward()"
    if choices["precision"] != "full":
        backward = f"$scaler.scale({'loss / 2' if accumulates else 'loss'}).backward()"
    if accumulates:
        inside += [backward, f"if (i + 1) % 2 == 0 or i + 1 == len({loader}):", *_in(step)]
    else:
        inside += [backward, *step]
    inside += ["losses.update(loss.item())"] if choices["stop"] == "meter" else []
    return [*lines, head, *_in([*inside, "total += loss.item()"])]


def _losses(choices: Choices) -> list[str]:
    """From a batch to its loss."""
    lines = ["out = $model(x)", "loss = $criterion(out, y)"]
    if choices["model"] == "teacher":
        lines += ["with torch.no_grad():", "    target = $teacher(x)"]
        lines += ["loss = loss + 0.5 * $criterion(out, target)"]
    if choices["precision"] == "scaler":
        return ['with torch.autocast("cuda"):', *_in(lines)]
    if choices["precision"] == "cuda-scaler":
        return ["with torch.cuda.amp.autocast():", *_in(lines)]
    return lines


def _step(choices: Choices) -> list[str]:
    scaled = choices["precision"] != "full"
    lines = ["nn.utils.clip_grad_norm_($model.parameters(), 1.0)"] if "clip" in choices["steps"] else []
    if scaled and lines:
        lines = ["$scaler.unscale_($optimizer)", *lines]
    lines += ["$scaler.step($optimizer)", "$scaler.update()"] if scaled else ["$optimizer.step()"]
    lines += ["$optimizer.zero_grad()"]
    if choices["model"] == "average":
        lines += [
            "with torch.no_grad():",
            f"    for old, new in zip($average.parameters(), {inner(choices)}.parameters()):",
            "        old.mul_(0.9).add_(new, alpha=0.1)",
        ]
    return lines


def _save(choices: Choices, name: str, epoch: str = "epoch") -> list[str]:
    path = where(choices, name)
    state = f"{inner(choices) if choices['saved'] == 'inner' else '$model'}.state_dict()"
    if choices["saved"] == "dictionary":
        state = f'{{"model": {state}, "optimizer": $optimizer.state_dict(), "epoch": {epoch}}}'
    return [f"torch.save({state}, {path})"]


def _after(choices: Choices) -> list[str]:
    """What follows a pass: validation, schedule, log, saving, stopping."""
    val = '$loaders["val"]' if choices["loaders"] == "dictionary" else "$val_loader"
    validated = "$average" if choices["model"] == "average" else "$model"
    lines = [*reduced(choices), f"val_loss = validate({validated}, {val}, $device)"]
    if choices["schedule"] != "none":
        lines += ["$scheduler.step(val_loss)" if choices["schedule"] == "plateau" else "$scheduler.step()"]
    lines += _by_one(choices, log) if (log := _log(choices)) else []
    of_training = "total" if choices["reduce"] == "none" else "shown"
    measured = "val_loss" if choices["stop_by"] == "validation" else of_training
    if choices["save"] == "best":
        lines += ["if val_loss < best:"]
        keep = ["best = val_loss"] if choices["stop"] not in ("meter", "best") else []
        lines += _in([*keep, *_by_one(choices, _save(choices, "best.pt"))])
    if choices["save"] == "every":
        lines += _by_one(choices, _save(choices, "last.pt"))
    return lines + _stop(choices, measured)


def _log(choices: Choices) -> list[str]:
    if choices["log"] == "print":
        return ['print(f"epoch {epoch}: {val_loss:.4f}")']
    if choices["log"] == "csv":
        path = where(choices, "log.csv")
        return [f'with open({path}, "a", newline="") as f:', "    csv.writer(f).writerow([epoch, val_loss])"]
    if choices["log"] == "json":
        path = where(choices, "metrics.json")
        shown = ', "train": shown' if choices["reduce"] != "none" else ""
        return [f'json.dump({{"epoch": epoch, "loss": val_loss{shown}}}, open({path}, "w"))']
    return []


def _stop(choices: Choices, measured: str) -> list[str]:
    if choices["stop"] == "list":
        worse = "if len(history) > 2 and history[-1] > history[-2]:"
        return [f"history.append({measured})", worse, "    break"]
    if choices["stop"] == "class":
        return [f"stop({measured})", "if stop.early_stop:", "    break"]
    if choices["stop"] == "meter":
        value = "val_loss" if choices["stop_by"] == "validation" else "losses.avg"
        return [f"if {value} > best:", "    break", f"best = {value}"]
    if choices["stop"] == "best":
        return [
            f"if {measured} < best:",
            f"    best, worse = {measured}, 0",
            "else:",
            "    worse += 1",
            "    if worse >= 1:",
            "        break",
        ]
    return []
