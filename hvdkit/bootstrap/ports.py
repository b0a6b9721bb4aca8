"""Control ports that every rank works out for itself, from what its launcher tells all of them."""

from __future__ import annotations

# Below the ports that Linux lends to whoever asks for any (ip_local_port_range): nobody gets these by chance.
FIRST_PORT, PORTS = 20000, 10000
FIRST_LENT_PORT = 32768


def of_number(number: int) -> int:
    """The control port of a job that has a number."""
    return FIRST_PORT + number % PORTS


def beside(port: int) -> int:
    """The control port of a job whose ranks know a port that is in use.

    The next one where a person chose that port. One that the kernel chose has neighbours which the kernel
    lends, too: at any moment they may belong to a connection of another program.
    """
    return port + 1 if port < FIRST_LENT_PORT - 1 else of_number(port)
