"""Schedulers and workers of Dask as processes of their own, on the loopback; some are killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import riskcli
from benchmarks.make_runs import Size, make
from riskcli import UsageError
from riskcli.scores import remote
from tests.helpers.console import ROOT
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES, riskeval
from tests.scores.test_remote import everything

pytest.importorskip("distributed", reason="Dask is not installed: pip install 'riskeval[cluster]'")

from distributed.comm import CommClosedError

from riskcli.scores import dask as cluster_module
from riskcli.scores.dask import cluster

WAIT = 60.0


class Dask:
    """A scheduler and its workers; all of them end with the test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = (folder / "log").open("w")
        self._started: list[subprocess.Popen[bytes]] = []
        self.address = ""
        self.environment: Mapping[str, str] = {}

    def scheduler(self, *options: str) -> subprocess.Popen[bytes]:
        file = self._folder / "scheduler.json"
        process = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(file), *options,
        )  # fmt: skip
        until(file.exists)
        self.address = until(lambda: read_address(file))
        return process

    def worker(self, *options: str, cwd: Path = ROOT, **variables: str) -> subprocess.Popen[bytes]:
        """A worker of one thread; without a nanny, so that nobody starts it again."""
        options = (*options, "--nthreads", "1", "--no-dashboard", "--no-nanny")
        local = ("--local-directory", str(self._folder))
        return self._start("worker", self.address, *options, *local, cwd=cwd, **variables)

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.wait()
        self._log.close()

    def _start(self, *call: str, cwd: Path = ROOT, **variables: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *call],
            cwd=cwd,
            env={**os.environ, **self.environment, **variables},
            stdout=self._log,
            stderr=self._log,
        )
        self._started.append(process)
        return process


def read_address(file: Path) -> str:
    import json

    try:
        return str(json.loads(file.read_text())["address"])
    except ValueError:  # being written
        return ""


def until(holds: Callable[[], Any]) -> Any:
    """Wait for something."""
    end = time.monotonic() + WAIT
    while not (found := holds()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    home = tmp_path / "dask"
    home.mkdir()
    started = Dask(home)
    try:
        yield started
    finally:
        started.close()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 runs of 150 kB."""
    folder = tmp_path_factory.mktemp("many")
    make(folder, Size(runs=24, topics=10, depth=300), "clueweb", seed=1, compress=False)
    return folder


@pytest.fixture(scope="module")
def expected(many: Path) -> list[object]:
    return everything(riskcli.evaluate([many / "runs"], qrels=many / "qrels.txt"))


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is a batch of its own, so that there is a middle to disturb."""
    monkeypatch.setattr(remote, "_SHORTEST", 1e-9)
    monkeypatch.setattr(remote, "_LONGEST", 1e-9)


def once(disturb: Callable[[], object]) -> Callable[[int, int], None]:
    """A progress function that disturbs when the first answers are there, and no later."""
    calls: list[int] = []

    def progress(done: int, total: int) -> None:
        if not calls:
            assert done < total, "nothing was left to be disturbed"
            disturb()
        calls.append(done)

    return progress


def evaluated(many: Path, workers: remote.Workers, **more: Any) -> list[object]:
    return everything(
        riskcli.evaluate([many / "runs"], qrels=many / "qrels.txt", executor=workers, **more)
    )


@pytest.mark.parametrize(("count", "send"), [(1, "bytes"), (2, "paths")])
def test_the_same_for_any_number_of_workers(
    dask: Dask, many: Path, expected: list[object], count: int, send: Any
) -> None:
    dask.scheduler()
    for _ in range(count):
        dask.worker()
    with cluster(dask.address, send) as workers:
        assert evaluated(many, workers) == expected
        assert evaluated(many, workers) == expected


@pytest.mark.usefixtures("small_batches")
def test_a_worker_that_is_killed(dask: Dask, many: Path, expected: list[object]) -> None:
    dask.scheduler()
    victim, _ = dask.worker(), dask.worker()
    with cluster(dask.address) as workers:
        until(lambda: len(addresses(workers)) == 2)
        kill = once(lambda: victim.send_signal(signal.SIGKILL))
        assert evaluated(many, remote_of(workers, 2), progress=kill) == expected
        assert len(until(lambda: addresses(workers))) == 1


@pytest.mark.usefixtures("small_batches")
def test_a_worker_that_joins_late(dask: Dask, many: Path, expected: list[object]) -> None:
    """It works while the other one stands still, and is sent the judgements, too."""
    dask.scheduler()
    first = dask.worker()
    with cluster(dask.address) as workers, ThreadPoolExecutor(1) as watch:
        known = addresses(workers)

        def wake() -> None:
            (late,) = set(addresses(workers)) - set(known)
            until(lambda: client_of(workers).run(readers_made, workers=[late])[late])
            first.send_signal(signal.SIGCONT)

        def join() -> None:
            dask.worker()
            until(lambda: len(addresses(workers)) == 2)
            first.send_signal(signal.SIGSTOP)
            woken.append(watch.submit(wake))

        woken: list[Future[None]] = []
        assert evaluated(many, remote_of(workers, 4), progress=once(join)) == expected
        woken[0].result(WAIT)


@pytest.mark.usefixtures("small_batches")
def test_all_workers_killed_and_another_joins(
    dask: Dask, many: Path, expected: list[object]
) -> None:
    dask.scheduler()
    victims = [dask.worker(), dask.worker()]
    with cluster(dask.address) as workers:

        def replace_all() -> None:
            for victim in victims:
                victim.kill()
            dask.worker()

        assert evaluated(many, workers, progress=once(replace_all)) == expected


def test_files_that_kill_their_workers(dask: Dask, many: Path) -> None:
    """They are given up after as many deaths as Dask allows, and the last worker is named."""
    dask.environment = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    dask.scheduler()
    dask.worker()
    with cluster(dask.address) as workers:
        (address,) = addresses(workers)
        lethal = remote.Workers(Killing(workers.executor), 1, explain=workers.explain)
        with pytest.raises(UsageError) as caught:
            evaluated(many, lethal)
    assert str(caught.value) == (
        f"the workers failed: 1 worker died over the same files, the last one was {address}"
    )


@pytest.mark.usefixtures("small_batches")
def test_a_scheduler_that_goes_away(dask: Dask, many: Path, tmp_path: Path) -> None:
    scheduler = dask.scheduler()
    dask.worker()
    import dask as library

    with (
        library.config.set({"distributed.comm.timeouts.connect": "2s"}),
        cluster(dask.address) as workers,
    ):
        kill = once(lambda: scheduler.send_signal(signal.SIGKILL))
        start = time.monotonic()
        with pytest.raises(UsageError) as caught:
            evaluated(many, workers, progress=kill, store=tmp_path / "s")
        assert time.monotonic() - start < WAIT
    assert str(caught.value) == (
        f"the workers failed: the Dask scheduler at {dask.address} went away"
    )
    again = riskcli.evaluate([many / "runs"], qrels=many / "qrels.txt", store=tmp_path / "s")
    assert len(again.matrices[0].runs) == 24  # what came before stayed whole


KILLING = """
import os, sys, time
import riskcli.scores.remote as remote
from riskcli.__main__ import start
remote._SHORTEST = remote._LONGEST = 1e-9
pid, answers = int(sys.argv[1]), remote._Client._answers
def kill(*arguments):
    os.kill(pid, 9)
    time.sleep(0.1)
    return answers(*arguments)
remote._Client._answers = kill
sys.argv = ["riskeval", *sys.argv[2:]]
start()
"""
"""The program, which ends a process when the first answers are there."""


@pytest.mark.slow
def test_of_a_scheduler_that_goes_away_one_line_is_said(dask: Dask, many: Path) -> None:
    """Dask's own log and traceback are no business of whoever reads this."""
    scheduler = dask.scheduler()
    dask.worker()
    call = [str(scheduler.pid), "score", many / "runs", "-q", many / "qrels.txt"]
    done = subprocess.run(
        [sys.executable, "-c", KILLING, *map(str, call), "--cluster", dask.address],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lost = f"riskeval: the workers failed: the Dask scheduler at {dask.address} went away\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", lost)


def test_a_connection_that_is_lost_before_there_is_any_work() -> None:
    class Lost:
        status, scheduler = "closed", None

        def wait_for_workers(self, *_: object, **__: object) -> None:
            raise CommClosedError("Stream is closed")

    client: Any = Lost()
    with pytest.raises(UsageError, match="the Dask scheduler at tcp://gone went away"):
        cluster_module._workers(client, "tcp://gone", "paths")


def test_a_file_that_one_worker_cannot_see(dask: Dask, tmp_path: Path) -> None:
    """The same path is another folder for a process that runs elsewhere."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    (here / "x.run").write_text("1 Q0 d1 1 2.0 t\n")
    (here / "qrels").write_text("1 0 d1 1\n")
    dask.scheduler()
    dask.worker(cwd=there)
    call = ["score", "/proc/self/cwd/x.run", "-q", "qrels", "--cluster", dask.address]
    ran = riskeval(*call, cwd=here)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("riskeval: /proc/self/cwd/x.run: the worker tcp://127.0.0.1:")
    assert "cannot read this file (No such file or directory)" in ran.err
    assert ran.err.count("\n") == 1
    assert riskeval(*call, cwd=here, RISKEVAL_SEND="bytes").code == 0


def other_version(folder: Path) -> dict[str, str]:
    """An environment in which riskeval is another version."""
    shutil.copytree(ROOT / "riskcli", folder / "riskcli")
    (folder / "riskcli" / "core" / "version.py").write_text('"""Other."""\n__version__ = "9.9.9"\n')
    return {"PYTHONPATH": str(folder)}


def test_a_worker_of_another_version(dask: Dask, tmp_path: Path) -> None:
    dask.scheduler()
    dask.worker(**other_version(tmp_path / "other"), cwd=tmp_path)
    ran = riskeval("score", SAMPLES, "-q", QRELS, "--cluster", dask.address)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("riskeval: the worker tcp://127.0.0.1:")
    assert '"riskeval":"9.9.9"' in ran.err and ran.err.count("\n") == 1


@pytest.mark.usefixtures("small_batches")
def test_a_worker_of_another_version_that_joins_late(
    dask: Dask, many: Path, tmp_path: Path
) -> None:
    """Whether it gets work or not, the result is right or the worker is named."""
    environment = other_version(tmp_path / "other")
    dask.scheduler()
    first = dask.worker()
    with cluster(dask.address) as workers:

        def join() -> None:
            dask.worker(**environment, cwd=tmp_path)
            until(lambda: len(addresses(workers)) == 2)
            first.kill()

        with pytest.raises(UsageError, match=r"the worker tcp://127.* other versions: .*9\.9\.9"):
            evaluated(many, workers, progress=once(join))


def test_a_worker_without_riskeval(dask: Dask, tmp_path: Path) -> None:
    package = tmp_path / "none" / "riskcli"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise ModuleNotFoundError('No module named riskcli')\n")
    dask.scheduler()
    dask.worker(PYTHONPATH=str(package.parent), cwd=tmp_path)
    ran = riskeval("score", SAMPLES, "-q", QRELS, "--cluster", dask.address)
    assert ran.code == 2
    assert "cannot load riskeval" in ran.err and ran.err.count("\n") == 1


def test_nobody_at_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_CONNECT", 1)
    with (
        pytest.raises(UsageError, match=r"no Dask scheduler answers at tcp://127.0.0.1:9: "),
        cluster("tcp://127.0.0.1:9"),
    ):
        pass


def test_no_worker_joins(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_module, "_JOIN", 1)
    dask.scheduler()
    with (
        pytest.raises(UsageError, match=r"0 of 1 worker joined the Dask scheduler at tcp.* in 1 "),
        cluster(dask.address),
    ):
        pass


@pytest.mark.parametrize("address", ["local:", "local:0", "local:x", "local:-1"])
def test_a_wrong_number_of_processes(address: str) -> None:
    ran = run_inside("score", SAMPLES, "-q", QRELS, "--cluster", address)
    assert ran.code == 2
    assert f"--cluster {address}: expected local:N, a number of processes" in ran.err


def certificates(folder: Path) -> dict[str, str]:
    """A certificate of our own, and the options of Dask that name it."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-keyout", str(folder / "key.pem"),
         "-out", str(folder / "cert.pem")],
        check=True, capture_output=True,
    )  # fmt: skip
    prefix = "DASK_DISTRIBUTED__COMM__"
    named = {f"{prefix}TLS__CA_FILE": "cert.pem", f"{prefix}REQUIRE_ENCRYPTION": "true"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        named[f"{prefix}TLS__{role}__CERT"] = "cert.pem"
        named[f"{prefix}TLS__{role}__KEY"] = "key.pem"
    return {
        name: str(folder / value) if value.endswith("pem") else value
        for name, value in named.items()
    }


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
def test_tls_as_dask_offers_it(dask: Dask, tmp_path: Path) -> None:
    dask.environment = certificates(tmp_path)
    dask.scheduler("--protocol", "tls")
    dask.worker()
    assert dask.address.startswith("tls://")
    call: Sequence[str | Path] = ["score", SAMPLES, "-q", QRELS, "-f", "json"]
    through = riskeval(*call, "--cluster", dask.address, variables=dask.environment)
    assert through == riskeval(*call)
    stranger = riskeval(*call, "--cluster", dask.address)
    assert (stranger.code, stranger.out) == (2, "")
    assert "needs certificates: name them in Dask's configuration" in stranger.err
    assert stranger.err.count("\n") == 1


def test_the_program_with_processes_of_its_own() -> None:
    call: Sequence[str | Path] = ["score", SAMPLES, "-q", QRELS, "-f", "json", "-b", "indriCASP"]
    plain = riskeval(*call)
    assert plain.code == 0
    assert riskeval(*call, "--cluster", "local:2") == plain


def test_the_first_error_is_that_of_one_machine(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        shutil.copy(SAMPLES / "caspPlus.run", tmp_path / f"{name}.run")
    (tmp_path / "b.run").write_text("1 Q0 d 1 x t\n")
    (tmp_path / "c.run").write_text("1 Q0\n")
    call: list[str | Path] = ["score", tmp_path, "-q", QRELS, "-f", "json", "--run-names", "file"]
    for more in ([], ["--on-error", "skip"]):
        plain = run_inside(*call, *more)
        assert plain.code == (1 if more else 2)
        assert riskeval(*call, *more, "--cluster", "local:2") == plain


# ---------------------------------------------------------------- looking behind the curtain


class Killing(Executor):
    """Hands on to workers what kills them."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return self._inner.submit(os._exit, 9)


def client_of(workers: remote.Workers) -> Any:
    return workers.executor._client  # type: ignore[attr-defined]


def addresses(workers: remote.Workers) -> list[str]:
    return list(client_of(workers).scheduler_info(n_workers=-1)["workers"])


def remote_of(workers: remote.Workers, count: int) -> remote.Workers:
    return remote.Workers(workers.executor, count, workers.send, workers.deposit, workers.explain)


def readers_made() -> int:
    """How many readers a worker made."""
    from riskcli.scores import remote as there

    return there._reader.cache_info().currsize
