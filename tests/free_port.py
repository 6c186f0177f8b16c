"""Ports for programs that a test starts and that cannot choose one themselves."""

import random
import socket

PORTS = iter(random.sample(range(10000, 30000), 20000))
HELD = []


def hold(port):
    """Makes the port this process's until it ends, or returns False: another test on this machine holds it, however long it has
    not listened there. An abstract socket is the lock: it belongs to the same network as the port, and vanishes with the process."""
    lock = socket.socket(socket.AF_UNIX)
    try:
        lock.bind(f"\0oif-test-port-{port}")
    except OSError:
        lock.close()
        return False
    HELD.append(lock)
    return True


def free_port():
    """Returns a port that the system gives to no connection, and this function to no other process, before the program is started."""
    for port in PORTS:
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if hold(port):
            return port
    raise OSError("no port from 10000 to 29999 is free")
