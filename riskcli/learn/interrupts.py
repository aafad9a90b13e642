"""Ctrl-C while models are trained: what there is so far is kept."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Interrupts:
    """Whether somebody wants to stop, and whether there is anything to keep."""

    pressed: bool = False
    keeping: bool = False
    """Until there is a tree, Ctrl-C ends the program as it does elsewhere."""


@contextmanager
def interruptible() -> Iterator[Interrupts]:
    """Within, Ctrl-C is noted once there is something to keep; a second one ends the program."""
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.getsignal(signal.SIGINT)

    def note(_number: int, _frame: object) -> None:
        signal.signal(signal.SIGINT, before)
        if interrupts.keeping:
            interrupts.pressed = True
        else:
            signal.raise_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
