"""What is known at a place of a run: who comes there, what is remembered, and what a test of it gives."""

from __future__ import annotations

from hvdkit.job.columns import Split, Value, columns, lift
from hvdkit.job.store import Key, Store
from hvdkit.job.terms import Term, Terms, conjuncts

# What is never false: it has neither a length nor a truth of its own.
SURELY = frozenset(("function", "class", "bound", "module", "partial", "generator"))


class Knowledge:
    """All that is known.

    path: in each process, the condition under which it comes here. gate: the part of it that is about calls
    that returned and loops that were left, for which a write keeps what was there before. assumed: the
    conditions that hold here, or do not.
    """

    def __init__(self) -> None:
        self.terms = Terms()
        self.store = Store()
        self.path: Value = self.terms.true
        self.gate: Value = self.terms.true
        self.assumed: dict[Term, bool] = {}
        self.members: dict[Term, dict[str, None]] = {}  # the attributes of an object
        self._truths: tuple[dict[Term, bool], dict[Term, bool | None]] = (self.assumed, {})

    def read(self, key: Key) -> Value | None:
        """What is remembered, as it is on the path that is being run."""
        value = self.store.values.get(key)
        if value is None or not self.assumed:
            return value
        if isinstance(value, Split) or value.kind == "either":
            return lift(self.assuming, value)
        return value

    def write(self, key: Key, value: Value) -> None:
        """Remember a value in the processes that come here."""
        true = self.terms.true
        if self.gate is true and isinstance(self.path, Term):
            self.store.put(key, value)
        else:
            old = self.store.values.get(key, self.terms.unset)
            self.store.put(key, lift(self._kept, self.path, self.gate, value, old))

    def _kept(self, path: Term, gate: Term, value: Term, old: Term) -> Term:
        return old if path is self.terms.false else self.terms.either(gate, value, old)

    def assuming(self, term: Term) -> Term:
        while term.kind == "either":
            test, then, other = term.parts
            assert isinstance(test, Term) and isinstance(then, Term) and isinstance(other, Term)
            truth = self.truth(test)
            if truth is None:
                break
            term = then if truth else other
        return term

    def attribute(self, holder: Term, name: str) -> Value | None:
        """An attribute that an object was given."""
        return self.read((holder, name))

    def set_attribute(self, holder: Term, name: str, value: Value) -> None:
        """Give an object an attribute."""
        self.members.setdefault(holder, {})[name] = None
        self.write((holder, name), value)

    def truth(self, term: Term) -> bool | None:
        """Whether a term counts as true, if that is known here."""
        if term.kind == "const":
            return bool(term.parts[0])
        if term in self.assumed:
            return self.assumed[term]
        if term.kind in ("not", "and"):
            if self._truths[0] is not self.assumed:
                self._truths = (self.assumed, {})
            known = self._truths[1]
            if term not in known:
                known[term] = self._of_parts(term)
            return known[term]
        if term.kind == "tuple":
            return bool(term.parts)
        return True if term.kind in SURELY else None

    def _of_parts(self, term: Term) -> bool | None:
        """The truth of what is made of other conditions."""
        if term.kind == "not":
            inner = self.truth(term.inner[0])
            return None if inner is None else not inner
        parts = [self.truth(part) for part in conjuncts(term)]
        return False if False in parts else None if None in parts else True

    def condition(self, value: Value) -> Value:
        """A value as a test reads it: True, False, or a term that may be either."""

        def of(term: Term) -> Term:
            test = self.terms.condition(term)
            truth = self.truth(test)
            return test if truth is None else self.terms.truth(truth)

        return lift(of, value)

    def assuming_that(self, test: Value) -> dict[Term, bool]:
        """What is known where a test holds."""
        found = dict(self.assumed)
        for term in {*columns(test)}:
            for part in conjuncts(term):
                if part.kind == "not":
                    found[part.inner[0]] = False
                elif part.kind != "const":
                    found[part] = True
        return found
