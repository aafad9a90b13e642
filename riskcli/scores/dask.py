"""Workers of a Dask cluster: one that exists already, or processes on this machine."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from riskcli.core.choices import Sending
from riskcli.core.messages import UsageError, counted, lacking
from riskcli.core.parallel import keep_freed_memory
from riskcli.core.version import __version__
from riskcli.scores.remote import Workers, in_one_line, keep_judgements, other_version, stamp

if TYPE_CHECKING:
    from distributed import Client

_LOCAL = "local:"
_CONNECT = 20
"""Seconds in which a scheduler answers."""
_START = 120
"""Seconds in which processes on this machine have started, however busy it is."""
_JOIN = 600
"""Seconds in which a first worker joins; queues of clusters take their time."""


@contextmanager
def cluster(address: str, send: Sending = "paths") -> Iterator[Workers]:
    """The workers of the Dask scheduler at that address, or of `local:N`, N processes started here.

    TLS and all else is as Dask's own configuration says. Whoever reaches a scheduler can run code
    on its workers.
    """
    try:
        import distributed  # late: an extra
    except ImportError as error:
        raise lacking("--cluster needs Dask", "cluster") from error
    before = logging.root.manager.disable
    logging.disable()  # errors are reported in one line, once; Dask's loggers have levels each
    try:
        with _client(distributed, address) as client:
            yield _workers(client, address, send)
    finally:
        logging.disable(before)


def _workers(client: Client, address: str, send: Sending) -> Workers:
    """The workers that have joined, all of which compute as this process does."""
    try:
        _wait_for_workers(client, 1, f"at {address}", _JOIN)
        _refuse_other_versions(client)
        return Workers(
            executor=client.get_executor(pure=False),
            count=max(1, sum(client.nthreads().values())),
            send=send,
            deposit=partial(client.run, keep_judgements, on_error="ignore"),
            explain=partial(_explained, client, address),
        )
    except (OSError, RuntimeError) as error:  # the connection is closed
        raise UsageError(f"the workers failed: {_explained(client, address, error)}") from error


@contextmanager
def _client(distributed: Any, address: str) -> Iterator[Client]:
    if address.startswith(_LOCAL):
        with (
            _local_workers(distributed, _processes(address)) as local,
            distributed.Client(local, set_as_default=False) as client,
        ):
            _wait_for_workers(client, _processes(address), "that was started here", _START)
            client.run(keep_freed_memory)
            yield client
        return
    if address.startswith("tls://"):
        _require_certificates(distributed)
    try:
        client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        message = f"no Dask scheduler answers at {address}: {in_one_line(error)}"
        raise UsageError(message) from error
    try:
        yield client
    finally:
        with suppress(OSError, RuntimeError, TimeoutError):
            client.close(timeout=5)


@contextmanager
def _local_workers(distributed: Any, count: int) -> Iterator[Any]:
    """A scheduler in this process, and workers in others.

    Dask would start them by importing the program that runs once more in each, which is for every
    script another matter; here they are what the command `dask worker` starts.
    """
    with (
        TemporaryDirectory() as folder,
        distributed.LocalCluster(
            n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
        ) as local,
    ):
        call = [sys.executable, "-m", "dask", "worker", local.scheduler_address]
        options = ["--nthreads", "1", "--no-dashboard", "--local-directory", folder]
        workers = [
            subprocess.Popen(
                [*call, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            for _ in range(count)
        ]
        try:
            yield local
        finally:
            for worker in workers:
                worker.terminate()
            for worker in workers:
                worker.wait()


def _require_certificates(distributed: Any) -> None:
    """Dask would notice later, with a client half made that takes long to give up."""
    if distributed.Security().get_connection_args("client")["ssl_context"] is None:
        raise UsageError(
            "--cluster tls://... needs certificates: name them in Dask's configuration "
            "(distributed.comm.tls)"
        )


def _processes(address: str) -> int:
    count = address.removeprefix(_LOCAL)
    if not count.isdecimal() or int(count) < 1:
        raise UsageError(f"--cluster {address}: expected local:N, a number of processes")
    return int(count)


def _wait_for_workers(client: Client, count: int, where: str, patience: float) -> None:
    try:
        client.wait_for_workers(count, timeout=patience)
    except TimeoutError as error:
        joined = len(client.nthreads())
        message = f"{joined} of {counted(count, 'worker')} joined the Dask scheduler {where} in "
        raise UsageError(f"{message}{patience:g} seconds") from error


def _refuse_other_versions(client: Client) -> None:
    """One clear line, before any work; workers that join later are checked with every batch."""
    for worker, version in client.run(stamp, on_error="return").items():
        if isinstance(version, BaseException):
            raise UsageError(
                f"the worker {worker} cannot load riskeval {__version__} ({in_one_line(version)})"
            )
        if version != stamp():
            raise UsageError(other_version(worker, version))


def _explained(client: Client, address: str, error: BaseException) -> str:
    from distributed import KilledWorker  # late: an extra

    if isinstance(error, KilledWorker):
        worker = getattr(error.last_worker, "address", error.last_worker)
        deaths = counted(error.allowed_failures + 1, "worker")
        return f"{deaths} died over the same files, the last one was {worker}"
    if client.status != "running" or client.scheduler is None:
        return f"the Dask scheduler at {address} went away"
    return in_one_line(error)
