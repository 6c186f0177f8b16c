"""Ports for programs that a test starts and that cannot choose one themselves."""

import random
import socket

PORTS = iter(random.sample(range(10000, 30000), 20000))


def free_port():
    """Returns a port that the system gives to no connection before the program is started."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
