"""Files that lie elsewhere: an S3 server on the loopback (moto), and a web server that cuts."""

from __future__ import annotations

import multiprocessing
import os
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from riskcli import InputError, Rules, UsageError, evaluate, read_qrels, validate
from riskcli.core import locations as remote_path
from riskcli.core.locations import RemotePath, place_of
from riskcli.scores import remote
from riskcli.trec.names import named_place
from tests.helpers.inprocess import run_inside
from tests.helpers.program import QRELS, SAMPLES

RUN = SAMPLES / "indriCASP.run"
SOME = ("indriCASP.run", "boldRerank.run", "plainBM25.run")
AP = ("-m", "AP", "-f", "csv", "--quiet")


# Names


@pytest.mark.parametrize(
    "text", ["s3://b/k.run", "https://h/x?a=b", "gs://b", "hdfs://n:1/a/b", "memory://a/b"]
)
def test_urls_stay_what_they_are(text: str) -> None:
    path = place_of(text)
    assert isinstance(path, RemotePath)
    assert str(path) == text == str(place_of(path))
    assert str(path / "x").endswith("/x")
    assert "://" in str(path.parent / "y") or text == "gs://b"


@pytest.mark.parametrize("text", ["a/b", "a=b/c", "/x:/y", "C=d", "a:b", "x//y"])
def test_other_places_lie_here(text: str) -> None:
    assert not isinstance(place_of(text), RemotePath)


def test_a_name_may_be_given_to_a_url() -> None:
    name, path = named_place(place_of("new=s3://b/k.run"))
    assert (name, str(path)) == ("new", "s3://b/k.run")
    assert named_place("https://h/x?sig=abc") == (None, place_of("https://h/x?sig=abc"))


def test_no_location_is_a_path_of_this_system() -> None:
    """A class that derives from PosixPath cannot be instantiated on Windows."""
    for text in ("s3://b/k.run", "irds:vaswani"):
        assert not isinstance(place_of(text), Path)


def test_a_folder_is_not_made_elsewhere(here: Path) -> None:
    pytest.importorskip("fsspec", reason="the extra remote is not installed")
    for call in (
        ("score", RUN, "--store", "memory://x"),
        ("organise", SAMPLES, "-o", "memory://y"),
    ):
        ran = run_inside(*call, "-q", QRELS)
        assert ran.code == 2
        assert "cannot-write: folders can be written on this machine only" in ran.err
    assert list(here.iterdir()) == []


# Without the extra


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec.core", None)
    ran = run_inside("score", "s3://bucket/run", "-q", QRELS)
    assert ran.code == 2
    assert ran.err.startswith("riskeval: s3://bucket/run: unreadable: s3:// needs the extra `rem")
    assert ran.err.count("\n") == 1


# An S3 server


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """A bucket with three runs and judgements, by its URL."""
    moto = pytest.importorskip("moto.server", reason="needs moto, an S3 server in Python")
    pytest.importorskip("s3fs", reason="needs the extra remote: s3fs is absent")
    import fsspec

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        files = fsspec.filesystem("s3")
        files.mkdir("bucket")
        for name in SOME:
            files.put(str(SAMPLES / name), f"bucket/runs/{name}")
        files.put(str(QRELS), "bucket/qrels.txt")
        yield "s3://bucket"
        files.clear_instance_cache()
    server.stop()


def here(tmp_path: Path) -> str:
    paths = [SAMPLES / name for name in SOME]
    return run_inside("matrix", *paths, "-q", QRELS, *AP).out


def test_runs_and_judgements_of_a_bucket(s3: str, tmp_path: Path) -> None:
    paths = [f"{s3}/runs/{name}" for name in SOME]
    assert run_inside("matrix", *paths, "-q", f"{s3}/qrels.txt", *AP).out == here(tmp_path)
    folder = run_inside("matrix", f"{s3}/runs", "-q", f"{s3}/qrels.txt", *AP)
    assert folder.out == here(tmp_path)
    assert run_inside("validate", f"{s3}/runs", "-q", f"{s3}/qrels.txt").code == 0
    evaluation = evaluate(f"{s3}/runs", qrels=f"{s3}/qrels.txt", rules=Rules("AP"))
    assert [str(item.path) for item in evaluation.inputs][-1] == f"{s3}/qrels.txt"
    assert read_qrels(f"{s3}/qrels.txt").judgements == read_qrels(QRELS).judgements


def test_a_baseline_and_a_named_run_of_a_bucket(s3: str) -> None:
    ran = run_inside(
        "score", RUN, "-b", f"mine={s3}/runs/plainBM25.run", "-q", QRELS, *AP
    )  # fmt: skip
    assert ran.code == 0
    assert "mine" in ran.out


def test_workers_read_a_bucket_themselves(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "read_raw", lambda path: pytest.fail(f"{path} was sent"))
    local = evaluate([SAMPLES / name for name in SOME], qrels=QRELS, rules=Rules("AP"))
    with ThreadPoolExecutor(2) as pool:
        paths = [f"{s3}/runs/{name}" for name in SOME]
        there = evaluate(paths, qrels=QRELS, rules=Rules("AP"), executor=pool)
    assert (there.matrices[0].values == local.matrices[0].values).all()
    assert there.matrices[0].runs == local.matrices[0].runs
    assert {i.sha256 for i in there.inputs} == {i.sha256 for i in local.inputs}


def _elsewhere() -> None:
    os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"


def test_a_worker_that_does_not_see_the_bucket_is_named(s3: str) -> None:
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(1, context, initializer=_elsewhere)
    with pool, pytest.raises(UsageError) as raised:
        evaluate([f"{s3}/runs/{SOME[0]}"], qrels=QRELS, rules=Rules("AP"), executor=pool)
    assert f"{s3}/runs/{SOME[0]}: the worker " in str(raised.value)
    assert "cannot read this file" in str(raised.value)


@pytest.mark.parametrize("format", ["csv", "json", "parquet", "txt"])
def test_results_go_into_a_bucket(s3: str, tmp_path: Path, format: str) -> None:
    local, remote = tmp_path / f"out.{format}", f"{s3}/results/out.{format}"
    for out in (local, remote):
        ran = run_inside("matrix", RUN, "-q", QRELS, "-m", "AP", "-o", out, "--quiet")
        assert ran.code == 0, ran.err
    assert place_of(remote).read_bytes() == local.read_bytes()


def test_a_missing_object_is_named(s3: str) -> None:
    ran = run_inside("score", f"{s3}/runs/absent.run", "-q", QRELS)
    assert (ran.code, ran.err) == (
        2, f"riskeval: {s3}/runs/absent.run: not-found: no such file or folder\n",
    )  # fmt: skip


def test_a_wrong_key_is_one_line(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    def look_at_keys_after(count: bytes) -> None:
        url = f"{os.environ['AWS_ENDPOINT_URL']}/moto-api/reset-auth"
        asked = urllib.request.Request(url, count, {"Content-Type": "text/plain"})
        urllib.request.urlopen(asked).close()

    look_at_keys_after(b"0")
    try:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "wrong")
        fsspec.filesystem("s3").clear_instance_cache()
        ran = run_inside("score", f"{s3}/runs/plainBM25.run", "-q", QRELS)
    finally:
        look_at_keys_after(b"inf")
        fsspec.filesystem("s3").clear_instance_cache()
    assert ran.code == 2
    assert ran.err.startswith(f"riskeval: {s3}/runs/plainBM25.run: unreadable: refused: ")
    assert ran.err.count("\n") == 1


def test_what_is_wrong_in_an_object_is_named_with_its_line(s3: str) -> None:
    place_of(f"{s3}/bad.run").replace_content(b"1 Q0 a 1 2 t\n1 Q0 b 2 x t\n")  # type: ignore[attr-defined]
    ran = run_inside("score", f"{s3}/bad.run", "-q", QRELS)
    assert ran.err.startswith(f"riskeval: {s3}/bad.run:2: bad-score: ")


def test_a_store_knows_objects_too(s3: str, tmp_path: Path) -> None:
    for _ in range(2):
        ran = run_inside(
            "matrix", f"{s3}/runs", "-q", f"{s3}/qrels.txt", "--store", tmp_path / "store", *AP
        )
        assert ran.out == here(tmp_path)


# A web server that does not always answer


class Server(BaseHTTPRequestHandler):
    """Serves the run; each behaviour is for one request, then all is well."""

    behaviours: ClassVar[list[str]] = []
    content: ClassVar[bytes] = RUN.read_bytes()

    def log_message(self, *_: Any) -> None:
        """Nothing."""

    def do_HEAD(self) -> None:
        if "no" in self.path:
            self.send_error({"/no": 404, "/not-for-you": 403}.get(self.path, 404))
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.content)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def do_GET(self) -> None:
        if "no" in self.path:
            return self.do_HEAD()
        behaviour = self.behaviours.pop(0) if self.behaviours else ""
        if behaviour == "500":
            self.send_error(500)
            return None
        asked = self.headers.get("Range", "").removeprefix("bytes=").split("-")
        start, end = (int(asked[0]), int(asked[1])) if len(asked) == 2 else (0, len(self.content))
        body = self.content[start : end + 1]
        self.send_response(206 if len(asked) == 2 else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Range", f"bytes {start}-{end}/{len(self.content)}")
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if behaviour == "cut" else body)
        self.close_connection = True
        return None


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """The URL of the run on a server that behaves so."""
    pytest.importorskip("aiohttp", reason="needs the extra remote: aiohttp is absent")
    monkeypatch.setattr(remote_path, "_DELAYS", (0.01, 0.01, 0.01))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()

    def url(*behaviours: str, name: str = "a.run") -> str:
        Server.behaviours[:] = behaviours
        return f"http://127.0.0.1:{server.server_port}/{name}"

    yield url
    server.shutdown()
    server.server_close()


def test_what_is_cut_or_fails_is_asked_for_again(web: Callable[..., str]) -> None:
    expected = run_inside("matrix", RUN, "-q", QRELS, *AP).out
    for behaviours in ((), ("cut",), ("500",), ("cut", "500", "cut")):
        assert run_inside("matrix", web(*behaviours), "-q", QRELS, *AP).out == expected
        assert Server.behaviours == []


def test_a_connection_that_is_always_cut_is_one_line(web: Callable[..., str]) -> None:
    url = web(*["cut"] * 40)
    ran = run_inside("matrix", url, "-q", QRELS, *AP)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"riskeval: {url}: unreadable: tried 4 times: ")
    assert ran.err.count("\n") == 1


def test_a_missing_page_is_named(web: Callable[..., str]) -> None:
    ran = run_inside("matrix", web(name="no"), "-q", QRELS, *AP)
    assert (ran.code, "not-found" in ran.err) == (2, True)


def test_a_page_that_may_not_be_read_is_named(web: Callable[..., str]) -> None:
    ran = run_inside("matrix", web(name="not-for-you"), "-q", QRELS, *AP)
    assert (ran.code, "unreadable" in ran.err or "not-found" in ran.err) == (2, True)
    assert ran.err.count("\n") == 1


def test_a_web_server_has_no_folders(web: Callable[..., str]) -> None:
    assert validate(web(), qrels=QRELS).count("error") == 0
    with pytest.raises(InputError, match="not-found"):
        read_qrels(web(name="no"))
