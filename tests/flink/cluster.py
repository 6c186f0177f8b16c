"""A real Flink cluster on this machine. The job manager and the task managers are processes that tests may kill.

Flink comes from the package apache-flink-libraries, which contains the jars but no scripts, so this module starts the entry classes.
"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
from free_port import free_port  # noqa: E402

JAVA_OPENS = [
    f"--add-{kind}={module}/{package}=ALL-UNNAMED"
    for kind, module, package in [
        ("exports", "java.base", "sun.net.util"),
        ("opens", "java.base", "java.lang"),
        ("opens", "java.base", "java.net"),
        ("opens", "java.base", "java.io"),
        ("opens", "java.base", "java.nio"),
        ("opens", "java.base", "sun.nio.ch"),
        ("opens", "java.base", "java.lang.reflect"),
        ("opens", "java.base", "java.text"),
        ("opens", "java.base", "java.time"),
        ("opens", "java.base", "java.util"),
        ("opens", "java.base", "java.util.concurrent"),
        ("opens", "java.base", "java.util.concurrent.atomic"),
        ("opens", "java.base", "java.util.concurrent.locks"),
    ]
]


class Cluster:
    """A job manager and task managers with two slots each.

    With `survives`, tests may kill the job manager too: its metadata is in a folder and in ZooKeeper, which is part of Flink.
    """

    def __init__(self, flink, folder, settings=None, survives=False):
        self.lib = Path(flink) / "lib"
        self.folder = Path(folder)
        self.port = free_port()
        self.managers = {}  # name -> process
        self.java_options = []  # of every process
        self.task_manager_options = ["-Xmx256m", "-XX:MaxDirectMemorySize=672m"]
        self.zookeeper_port = free_port() if survives else None
        self.settings = {
            "jobmanager.rpc.address": "127.0.0.1",
            "jobmanager.rpc.port": free_port(),
            "jobmanager.bind-host": "127.0.0.1",
            "taskmanager.bind-host": "127.0.0.1",
            "taskmanager.host": "127.0.0.1",
            "rest.address": "127.0.0.1",
            "rest.bind-address": "127.0.0.1",
            "taskmanager.numberOfTaskSlots": 2,
            "taskmanager.cpu.cores": 2.0,
            "taskmanager.memory.framework.heap.size": "64m",
            "taskmanager.memory.task.heap.size": "192m",
            "taskmanager.memory.framework.off-heap.size": "64m",
            "taskmanager.memory.task.off-heap.size": "512m",
            "taskmanager.memory.managed.size": "96m",
            "taskmanager.memory.jvm-metaspace.size": "256m",
            "taskmanager.memory.jvm-overhead.min": "64m",
            "taskmanager.memory.jvm-overhead.max": "64m",
            "taskmanager.memory.network.min": "32m",
            "taskmanager.memory.network.max": "32m",
            "execution.checkpointing.interval": "1 s",
            "execution.checkpointing.storage": "filesystem",
            "execution.checkpointing.dir": f"file://{self.folder}/checkpoints",
            "execution.checkpointing.savepoint-dir": f"file://{self.folder}/savepoints",
            "restart-strategy.type": "exponential-delay",
            "restart-strategy.exponential-delay.initial-backoff": "200 ms",
            "restart-strategy.exponential-delay.max-backoff": "1 s",
            "heartbeat.timeout": 8000,
            "heartbeat.interval": 1000,
            "heartbeat.rpc-failure-threshold": 1,
            "parallelism.default": 3,
            "io.tmp.dirs": f"{self.folder}/tmp",
            "web.upload.dir": f"{self.folder}/jars",
            **(self._high_availability() if survives else {}),
            **(settings or {}),
        }

    def _high_availability(self):
        return {
            "high-availability.type": "zookeeper",
            "high-availability.zookeeper.quorum": f"127.0.0.1:{self.zookeeper_port}",
            "high-availability.zookeeper.client.session-timeout": "4 s",
            "high-availability.storageDir": f"file://{self.folder}/managers",
        }

    # ---- Processes ----

    def start(self, task_managers=2):
        conf = self.folder / "conf"
        for each in (conf, self.folder / "tmp", self.folder / "logs"):
            each.mkdir(parents=True, exist_ok=True)
        lines = [f"{name}: {json.dumps(value)}" for name, value in self.settings.items()]
        (conf / "config.yaml").write_text("\n".join(lines) + "\n")
        if self.zookeeper_port:
            self.start_zookeeper()
        self.start_job_manager()
        for number in range(task_managers):
            self.start_task_manager(f"tm-{number}")
        self.wait_for(lambda: self.slots() == 2 * task_managers, "all slots")
        return self

    def start_zookeeper(self):
        (self.folder / "conf" / "zoo.cfg").write_text(
            f"tickTime=500\ninitLimit=10\nsyncLimit=5\ndataDir={self.folder}/zookeeper\nclientPort={self.zookeeper_port}\n"
            f"clientPortAddress=127.0.0.1\nadmin.enableServer=false\nserver.1=127.0.0.1:{free_port()}:{free_port()}\n"
        )
        self._run("zookeeper", "org.apache.flink.runtime.zookeeper.FlinkZooKeeperQuorumPeer", "-Xmx64m",
                  arguments=["--zkConfigFile", str(self.folder / "conf" / "zoo.cfg"), "--peerId", "1"])

    def start_job_manager(self):
        self._start_job_manager("jm", self.port)

    def start_standby(self):
        """Starts a second job manager, which waits until the first one is lost. Its REST interface asks the first one until then."""
        self.standby_port = free_port()
        self._start_job_manager("standby", self.standby_port)

    def fail_over(self):
        """Kills the job manager. The standby, which takes over, gets its name and is asked from now on."""
        self.kill("jm")
        self.managers["jm"], self.port = self.managers.pop("standby"), self.standby_port

    def _start_job_manager(self, name, port):
        self._start(name, "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint", "-Xmx384m", extra=["-D", f"rest.port={port}"])
        self.wait_for(lambda: self.ask("/overview", port=port) is not None, "the job manager")

    def start_task_manager(self, name):
        self._start(
            name,
            "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
            *self.task_manager_options,
            extra=["-D", f"taskmanager.resource-id={name}-{time.monotonic_ns()}"],
        )

    def _start(self, name, entry, *java_options, extra=()):
        self._run(name, entry, *java_options, arguments=["--configDir", str(self.folder / "conf"), *extra])

    def _run(self, name, entry, *java_options, arguments):
        log = open(self.folder / "logs" / f"{name}.log", "ab")
        environment = {**os.environ, "MALLOC_ARENA_MAX": "2", "FLINK_CONF_DIR": str(self.folder / "conf")}
        self.managers[name] = subprocess.Popen(
            ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=4", *java_options, *self.java_options, *JAVA_OPENS, "-cp", f"{self.lib}/*", entry,
             *arguments],
            stdout=log, stderr=log, env=environment, start_new_session=True,
        )

    def kill(self, name):
        """Kills a process with SIGKILL, as if its machine were lost."""
        process = self.managers.pop(name)
        process.kill()
        process.wait()

    def stop(self):
        for name in list(self.managers):
            self.kill(name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- The REST interface ----

    def ask(self, path, body=None, method=None, port=None):
        """Returns the answer of the job manager; None if it does not answer or the path does not exist."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{port or self.port}{path}", data=data, method=method, headers={"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=20 if body is None else 300) as answer:  # queries are repeated, a job must not be
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            if error.code in (404, 503) or (body is None and error.code == 500):  # the job is unknown until the job manager has recovered it
                return None
            raise RuntimeError(f"{path}: {error.code} {error.read().decode()[:2000]}") from error
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return None

    def wait_for(self, condition, what, seconds=600):
        deadline = time.monotonic() + seconds
        while not condition():
            dead = [name for name, process in self.managers.items() if process.poll() is not None]
            if dead:
                raise RuntimeError(f"{dead} ended; see {self.folder}/logs\n{self.tail(dead[0])}")
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {seconds} s for {what}\n{self.tail('jm')}")
            time.sleep(0.1)

    def tail(self, name):
        return (self.folder / "logs" / f"{name}.log").read_text(errors="replace")[-3000:]

    def resident_bytes(self, name):
        status = Path(f"/proc/{self.managers[name].pid}/status").read_text()
        return 1024 * int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))

    def slots(self):
        return (self.ask("/overview") or {}).get("slots-total")

    def upload(self, jar):
        """Uploads a jar. Returns its name for run()."""
        boundary = "oif-boundary"
        body = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="jarfile"; filename="{Path(jar).name}"\r\n'
            "Content-Type: application/x-java-archive\r\n\r\n"
        ).encode() + Path(jar).read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/jars/upload", data=body,
            headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.loads(answer.read())["filename"].rsplit("/", 1)[-1]

    def run(self, jar, entry, arguments, parallelism=3, savepoint=None, settings=None):
        body = {"entryClass": entry, "programArgsList": [str(each) for each in arguments], "parallelism": parallelism}
        if savepoint:
            body["savepointPath"] = savepoint
        if settings:
            body["flinkConfiguration"] = settings
        return self.ask(f"/jars/{jar}/run", body)["jobid"]

    def metrics(self, job, name):
        """Returns a metric of the operator "oif", one value per subtask."""
        found = []
        for vertex in (self.ask(f"/jobs/{job}") or {}).get("vertices", []):
            for subtask in range(vertex["parallelism"]):
                place = f"/jobs/{job}/vertices/{vertex['id']}/subtasks/{subtask}/metrics"
                names = [each["id"] for each in self.ask(place) or [] if each["id"].endswith(f"oif.oif.{name}")]
                found += [float(each["value"]) for each in (self.ask(f"{place}?get={','.join(names)}") if names else None) or []]
        return found

    def state(self, job):
        return (self.ask(f"/jobs/{job}") or {}).get("state")

    def checkpoints(self, job):
        """Returns the number of completed checkpoints."""
        return ((self.ask(f"/jobs/{job}/checkpoints") or {}).get("counts") or {}).get("completed", 0)

    def restored(self, job):
        return ((self.ask(f"/jobs/{job}/checkpoints") or {}).get("counts") or {}).get("restored", 0)

    def finish(self, job, seconds=600):
        def is_over():
            state = self.state(job)
            if state in ("FAILED", "CANCELED"):
                raise RuntimeError(f"the job is {state}: {self.why(job)}")
            return state == "FINISHED"

        self.wait_for(is_over, "the end of the job", seconds)

    def why(self, job):
        """Returns the messages of the latest exceptions, without stack frames."""
        history = (self.ask(f"/jobs/{job}/exceptions") or {}).get("exceptionHistory", {}).get("entries", [])
        lines = [line for each in history[:3] for line in each.get("stacktrace", "").splitlines()]
        return "\n".join(line for line in lines if not line.startswith("\tat "))[:8000]

    def stop_with_savepoint(self, job):
        """Returns the path of the savepoint."""
        request = self.ask(f"/jobs/{job}/stop", {"drain": False})["request-id"]
        answer = {}

        def is_done():
            answer.update(self.ask(f"/jobs/{job}/savepoints/{request}") or {})
            return answer.get("status", {}).get("id") == "COMPLETED"

        self.wait_for(is_done, "the savepoint")
        if "location" not in answer["operation"]:
            raise RuntimeError(f"no savepoint: {answer}")
        return answer["operation"]["location"]
