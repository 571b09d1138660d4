"""The page of `annotate` under load: saves beside streams, the owner's view, dealing, start, and seeks in a browser.

Videos of the load are stand-ins: files of random bytes, read at the rate of a video of 8 Mbit/s. The browser gets a
real clip. The server is a process of its own; the people are threads of this one, so that all of it shares the machine.

Run: OMP_NUM_THREADS=1 python benchmarks/pages.py [load|owner|browser]...
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import write_bytes, write_json
from truemoment.base.records import Annotations
from truemoment.media.video.files import identity_of
from truemoment.media.video.prepared import FRAMES, STRIP, VideoFrames
from truemoment.media.video.stamps import FrameTable
from truemoment.media.video.strips import StripLayout
from truemoment.web.annotating.answers import AnswerRequest, FrameSpan
from truemoment.web.annotating.creation import new_study
from truemoment.web.annotating.dealing import deal
from truemoment.web.annotating.events import append
from truemoment.web.annotating.people import OWNER, new_link
from truemoment.web.annotating.plan import StudyPlan
from truemoment.web.annotating.store import connect
from truemoment.web.annotating.study import ControlShares, StudyFolder
from truemoment.web.pages.sessions import cookie_name

PEOPLE, PER_QUERY, N_TASKS = 20, 5, 50
FPS, SECONDS = 30, 30
RATE = 1_000_000  # bytes a second of a stream: 8 Mbit/s
PIECE = 1 << 18


@dataclass
class Study:
    """A study on the disk, and the tokens of its people."""

    folder: StudyFolder
    tokens: dict[str, str]

    @property
    def cookie(self) -> str:
        """Name of the cookie."""
        return cookie_name(self.folder.settings().name)


def make_study(folder: Path, n_queries: int, n_videos: int, *, video_bytes: int) -> Study:
    """Make a study whose videos are stand-ins that count as prepared."""
    videos = folder / "videos"
    videos.mkdir(parents=True)
    rng = np.random.default_rng(0)
    for number in range(n_videos):
        (videos / f"v{number}.mp4").write_bytes(rng.bytes(video_bytes))
    rows = [
        (f"q{k}", f"v{k % n_videos}", float(SECONDS), f"somebody does number {k}", 1.0, 5.0, "")
        for k in range(n_queries)
    ]
    plan = StudyPlan(people=PEOPLE, per_query=PER_QUERY, controls=ControlShares(0.0, 0.0, 0.0), practice=0)
    made = new_study(folder / "study", Annotations.from_rows(rows, dataset="load"), videos, plan, source="load")
    study = StudyFolder(folder / "study")
    runs = FrameTable(Fraction(1, FPS), np.arange(FPS * SECONDS), FPS * SECONDS).runs()
    with contextlib.closing(connect(study.database)) as connection:
        connection.execute("BEGIN")
        for row in connection.execute("SELECT id, path FROM videos").fetchall():
            media = study.media(row["id"])
            media.mkdir(parents=True)
            identity = identity_of(Path(row["path"]))
            layout = StripLayout([0.0], 1, 1, 1)
            about = VideoFrames(
                runs.tick, runs.runs, runs.end, identity=identity, copy_why="", strip=layout, has_peaks=False
            )
            write_json(media / FRAMES, about, indent=None)
            write_bytes(media / STRIP, b"picture")
            connection.execute(
                "UPDATE videos SET state = 'ready', frames = ?, duration_s = ?, played = path, played_identity = ? "
                "WHERE id = ?",
                (FPS * SECONDS, float(SECONDS), identity, row["id"]),
            )
        connection.execute("COMMIT")
        tokens = {link.name: link.token for link in made.links}
        tokens[OWNER] = new_link(connection, OWNER).token
    return Study(study, tokens)


@dataclass
class Server:
    """A server process: its port, how long it took to answer, and its memory and time."""

    port: int
    process: subprocess.Popen[str]
    start_s: float
    began: float = field(default_factory=time.monotonic)

    def memory_mb(self) -> float:
        """Return the largest memory so far."""
        text = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        return int(text.split("VmHWM:")[1].split()[0]) / 1000

    def cpu_s(self) -> float:
        """Return the processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def serving(study: Study) -> Iterator[Server]:
    """Serve a study in a process of its own; the owner's new token is read from its output."""
    with contextlib.closing(socket.socket()) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    began = time.perf_counter()
    words = ["-m", "truemoment", "annotate", "serve", str(study.folder.path), "--port", str(port), "--no-open"]
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
    try:
        for line in process.stdout or ():
            if "link of the owner" in line:
                study.tokens[OWNER] = line.strip().rsplit("#", 1)[1]
                break
        yield Server(port, process, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait()


class Client:
    """A browser of a person, without the browser."""

    def __init__(self, server: Server, study: Study, name: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port)
        origin = f"http://127.0.0.1:{server.port}"
        self.headers = {"Cookie": f"{study.cookie}={study.tokens[name]}", "Origin": origin}

    def send(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes, float]:
        """Return status, content and seconds of a request."""
        data = None if body is None else json.dumps(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        began = time.perf_counter()
        self.connection.request(method, path, data, self.headers | kind | (headers or {}))
        response = self.connection.getresponse()
        content = response.read()
        return response.status, content, time.perf_counter() - began


def stream(server: Server, study: Study, name: str, video: int, stop: threading.Event) -> None:
    """Read a video at its rate, again and again."""
    client = Client(server, study, name)
    place = 0
    while not stop.wait(PIECE / RATE):
        status, content, _ = client.send(
            "GET", f"/media/{video}", headers={"Range": f"bytes={place}-{place + PIECE - 1}"}
        )
        expect(status, 206)
        place = 0 if len(content) < PIECE else place + PIECE


def work(server: Server, study: Study, name: str, times: list[float]) -> None:
    """Answer tasks as a person does: three drafts and a submission each, a fifth of a second apart."""
    client = Client(server, study, name)
    rng = np.random.default_rng(int(name[1:]))
    after = None
    for number in range(N_TASKS):
        _, content, _ = client.send("POST", "/api/next", {"after": after})
        task = json.loads(content)
        for version in range(4):
            time.sleep(float(rng.uniform(0.1, 0.3)))
            begin = int(rng.integers(0, 400))
            body = {
                "key": f"{name}-{number:04d}-{version}-load",
                "base": version,
                "verdict": "marked",
                "submit": version == 3,
            }
            body["moments"] = [{"first": begin, "last": begin + 90}]
            status, content, took = client.send("PUT", f"/api/tasks/{task['task']}/answer", body)
            expect(status, 200)
            times.append(took)
        after = task["task"]


def expect(status: int, expected: int) -> None:
    """End if a request failed."""
    if status != expected:
        raise SystemExit(f"the server answered {status}, expected {expected}")


def show_times(what: str, times: list[float]) -> None:
    """Print the median and the 95th percentile."""
    median, high = np.percentile(np.array(times) * 1000, [50, 95])
    print(f"{what}: median {median:.0f} ms, 95 % {high:.0f} ms, most {max(times) * 1000:.0f} ms ({len(times):,})")


def load(folder: Path) -> None:
    """Twenty people answer 50 tasks each, while 20 streams of 8 Mbit/s are read."""
    study = make_study(folder, 216, 20, video_bytes=SECONDS * RATE)
    with serving(study) as server:
        names = sorted(name for name in study.tokens if name != OWNER)
        of_person = {
            name: json.loads(Client(server, study, name).send("POST", "/api/next", {"after": None})[1])["video"]
            for name in names
        }
        times: list[float] = []
        stop = threading.Event()
        streams = [threading.Thread(target=stream, args=(server, study, name, of_person[name], stop)) for name in names]
        people = [threading.Thread(target=work, args=(server, study, name, times)) for name in names]
        cpu, began = server.cpu_s(), time.perf_counter()
        for thread in streams + people:
            thread.start()
        for thread in people:
            thread.join()
        wall = time.perf_counter() - began
        stop.set()
        for thread in streams:
            thread.join()
        show_times(f"save, {len(names)} people, 20 streams of 8 Mbit/s", times)
        print(
            f"server: {100 * (server.cpu_s() - cpu) / wall:.0f} % of a core, {server.memory_mb():.0f} MB; "
            f"{wall:.0f} s in all"
        )
        client = Client(server, study, "w01")
        paths, size, took = ["/task"], 0, 0.0
        for path in paths:  # the page names its styles and its script, which names other scripts
            status, content, seconds = client.send("GET", path)
            expect(status, 200)
            size, took = size + len(content), took + seconds
            named = re.findall(r'(?:src|href)="/static/([^"]+)"|from "\./([^"]+)"', content.decode())
            paths += [of for of in dict.fromkeys(f"/static/{a or b}" for a, b in named) if of not in paths]
        print(f"task page: {size / 1000:.0f} kB in {len(paths)} files, {took * 1000:.0f} ms, one after another")
    with contextlib.closing(connect(study.folder.database, read_only=True)) as connection:
        stored = connection.execute("SELECT count(*) FROM answers WHERE submitted_at IS NOT NULL").fetchone()[0]
    print(f"stored: {stored:,} answers of {PEOPLE * N_TASKS:,}")


def fill(study: Study) -> int:
    """Store an answer to every task, as a study that is done has it."""
    rng = np.random.default_rng(1)
    with contextlib.closing(connect(study.folder.database)) as connection:
        connection.execute("BEGIN")
        tasks = connection.execute("SELECT t.id, t.person, t.query FROM tasks t").fetchall()
        for row in tasks:
            begin = 10 * (row["query"] % 50) + int(rng.integers(0, 60))
            moments = (FrameSpan(begin, begin + int(rng.integers(60, 200))),)
            is_absent = rng.random() < 0.04
            request = AnswerRequest(
                key="x" * 16, base=0, verdict="absent" if is_absent else "marked", moments=() if is_absent else moments,
                active_s=int(rng.integers(20, 200)), submit=True,
            )  # fmt: skip
            append(connection, "answer", request.saved(1), task=row["id"], person=row["person"])
        connection.execute("COMMIT")
    return len(tasks)


def owner(folder: Path) -> None:
    """Deal 10,000 queries to 20 people, serve them, and look at 50,000 answers."""
    began = time.process_time()
    deal(np.arange(10_000) // 4, PEOPLE, PER_QUERY, np.random.default_rng(0))
    print(f"deal 10,000 x 5 to 20 people: {time.process_time() - began:.1f} s")
    study = make_study(folder, 10_000, 2500, video_bytes=1000)
    with serving(study) as server:
        print(f"serve 10,000 queries until it answers: {server.start_s:.1f} s")
    print(f"stored {fill(study):,} answers")
    with serving(study) as server:
        print(f"serve with them until it answers: {server.start_s:.1f} s")
        client = Client(server, study, OWNER)
        for what, path in (
            ("owner's view, first", "/api/owner/summary"),
            ("owner's view, again", "/api/owner/summary"),
            ("queries by agreement", "/api/owner/queries"),
            ("one query", "/api/owner/queries/77"),
        ):
            cpu_s = server.cpu_s()
            status, content, took = client.send("GET", path)
            expect(status, 200)
            print(f"{what}: {took:.2f} s, {server.cpu_s() - cpu_s:.2f} s of processor, {len(content) / 1000:.0f} kB")
        saves_beside(server, study)
        print(f"server: {server.memory_mb():.0f} MB")


def saves_beside(server: Server, study: Study) -> None:
    """Print how long saves take while the owner's view is computed, and while an export runs."""
    person = Client(server, study, "w01")
    with contextlib.closing(connect(study.folder.database, read_only=True)) as connection:
        task = connection.execute(
            "SELECT id FROM tasks WHERE person = (SELECT id FROM people WHERE name = 'w01')"
        ).fetchone()["id"]
    version = 1

    def save_until(ended: threading.Event) -> list[float]:
        nonlocal version
        times = []
        while not ended.is_set():
            body = {"key": f"beside-{version:08d}", "base": version, "verdict": "absent", "submit": True}
            times.append(person.send("PUT", f"/api/tasks/{task}/answer", body)[2])
            version += 1
            time.sleep(0.02)
        return times

    def export() -> None:
        client, began = Client(server, study, OWNER), time.perf_counter()
        job = json.loads(client.send("POST", "/api/owner/export", {})[1])["job"]
        while json.loads(client.send("GET", f"/api/jobs/{job}")[1])["state"] in ("waiting", "running"):
            time.sleep(0.1)
        print(f"export: {time.perf_counter() - began:.1f} s")

    def view() -> None:
        time.sleep(10)  # the figures are kept as long
        Client(server, study, OWNER).send("GET", "/api/owner/summary")

    for what, act in (("save while the view is computed", view), ("save while an export runs", export)):
        ended = threading.Event()

        def run(act: Callable[[], None] = act, ended: threading.Event = ended) -> None:
            try:
                act()
            finally:
                ended.set()

        thread = threading.Thread(target=run)
        thread.start()
        show_times(what, save_until(ended))
        thread.join()


def clip(path: Path) -> None:
    """Write 30 s of 1280 x 720 pictures that differ, with a key frame a second."""
    import av  # noqa: PLC0415 - the load needs none

    rng = np.random.default_rng(0)
    noise = rng.integers(0, 255, (720, 1280 + FPS * SECONDS, 3), dtype=np.uint8) // 4
    with av.open(str(path), "w", options={"movflags": "faststart"}) as container:
        out = container.add_stream("libx264", rate=FPS)
        out.width, out.height, out.pix_fmt = 1280, 720, "yuv420p"
        out.codec_context.gop_size = FPS
        out.options = {"preset": "veryfast", "bf": "0"}
        for number in range(FPS * SECONDS):
            pixels = np.ascontiguousarray(noise[:, number : number + 1280])
            pixels[200:400, number : number + 300] += 100
            container.mux(out.encode(av.VideoFrame.from_ndarray(pixels)))
        container.mux(out.encode())


SEEKS = """async (places) => {
  const {Player} = await import("/static/player.js");
  const {FrameTable} = await import("/static/frames.js");
  const video = document.createElement("video");
  document.body.append(video);
  const table = new FrameTable(await (await fetch("/media/1/frames.json")).json());
  const player = new Player(video);
  const begin = performance.now();
  player.load("/media/1", table);
  await player.show(0);
  const load = performance.now() - begin;
  const timesOf = async (act, list) => {
    const times = [];
    for (const place of list) {
      const start = performance.now();
      await act(place);
      times.push((performance.now() - start) / 1000);
    }
    return times;
  };
  const seeks = await timesOf((place) => player.show(place), places);
  await player.show(100);
  return {load, seeks, steps: await timesOf(() => player.step(1), places)};
}"""


def browser(folder: Path) -> None:
    """Time a task until its first frame, and steps and seeks of a 720-line clip in Chromium."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - only this part needs a browser

    videos = folder / "videos"
    videos.mkdir(parents=True)
    clip(videos / "v0.mp4")
    rows = [(f"q{k}", "v0", float(SECONDS), f"number {k} happens", 1.0, 5.0, "") for k in range(5)]
    plan = StudyPlan(people=1, per_query=1, controls=ControlShares(0.0, 0.0, 0.0), practice=0, review="offered")
    made = new_study(folder / "study", Annotations.from_rows(rows, dataset="clip"), videos, plan, source="clip")
    study = Study(StudyFolder(folder / "study"), {link.name: link.token for link in made.links})
    subprocess.run([sys.executable, "-m", "truemoment", "annotate", "prepare", str(study.folder.path)], check=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    with serving(study) as server, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        page.goto(f"http://127.0.0.1:{server.port}/in#{study.tokens['w01']}")
        page.check("#read")
        shown = """() => { const video = document.getElementById('video');
          return !document.getElementById('work').inert && video.readyState >= 2 && !video.seeking; }"""
        times = []
        page.click("#begin")
        page.wait_for_url("**/task/*")
        page.wait_for_function(shown)
        for _ in range(4):
            page.keyboard.press("a")
            before = page.url
            began = time.perf_counter()
            page.keyboard.press("Control+Enter")
            page.wait_for_function(f"() => location.href !== '{before}' && ({shown})()")
            times.append(time.perf_counter() - began)
        show_times("submit until the next task shows its first frame", times)
        places = np.random.default_rng(2).integers(0, FPS * SECONDS, 40).tolist()
        found = page.evaluate(SEEKS, places)
        print(f"a video until its first frame: {found['load']:.0f} ms")
        show_times("seek to a random frame, 720 lines", found["seeks"])
        show_times("step by a frame, 720 lines", found["steps"])


def main() -> None:
    """Run what is named, or all."""
    parts = {"load": load, "owner": owner, "browser": browser}
    for name in sys.argv[1:] or parts:
        with tempfile.TemporaryDirectory() as folder:
            parts[name](Path(folder))


if __name__ == "__main__":
    main()
