"""HVD725: ranks that learn from environments of their own have to train as often as each other."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.tensorflow_programs import environments
from hvdkit.migrate.plan import Finding

MESSAGE = "each rank plays its own episodes: a rank that has trained more often blocks forever"


def check(facts: Facts) -> Iterator[Finding]:
    advice = (
        "let all ranks train after the same number of steps of the environment, and equally often; seed "
        "each environment by its rank, so that each plays a different game"
    )
    for site in dict.fromkeys(environments(facts).values()):
        yield manual("HVD725", site.names, site.node, MESSAGE, advice)


RULE = Rule(
    id="HVD725",
    title="ranks that play",
    what="Reports where a training program creates an environment of gym or gymnasium.",
    why=(
        "All ranks take every training step together. An episode ends at a different step on every rank, "
        "and a program that trains when its memory is full, or at the end of an episode, trains more often "
        "on one rank than on another: the job hangs silently. Environments that share one seed play the "
        "same game N times."
    ),
    safety=(
        "Nothing is edited for it. What a rank has played is its own share of the data: HVD710 cuts nothing "
        "there."
    ),
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import gym
            import tensorflow as tf

            env = gym.make("CartPole-v1")
            model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
            model.compile("adam", "mse")
            while not done:
                state, reward, done, _ = env.step(model.predict(state))
                memory.append((state, reward))
                if len(memory) >= 32:
                    states, targets = sample(memory)
                    model.fit(states, targets)
            """,
            reason="an episode ends at a different step on every rank: the environment's creation is reported",
            reported=True,
        ),
        Keep(
            """\
            import gym
            import tensorflow as tf

            env = gym.make("CartPole-v1")
            model = tf.keras.models.load_model("player.keras")
            env.step(model.predict(env.reset()))
            """,
            reason="it plays, and does not train",
        ),
    ),
)
