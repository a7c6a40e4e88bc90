"""A second user of a shared scheduler, who does with it what the group may: submits files, fetches what
became of them, cancels, prunes, asks for tokens, and is killed in the middle of uploads. Only root can act
for one."""
import grp
import json
import os
import shutil
import signal
import subprocess
import time

USER = 65534  # nobody, and the group of that number
GROUP = "nogroup"


def is_possible():
    try:
        return os.geteuid() == 0 and shutil.which("setpriv") and grp.getgrnam(GROUP).gr_gid == USER
    except KeyError:
        return False


class Stranger:
    def __init__(self, attune, folder, state, random, log):
        self.state, self.random, self.log = state, random, log
        self.counts = dict.fromkeys(["sent", "fetched", "cancelled", "pruned", "broken off", "tokens"], 0)
        self.open, self.done = [], []
        # All of it where they may go: the program may lie in a home.
        folder.chmod(0o755)
        self.home, self.attune = folder / "stranger", folder / "attune"
        shutil.copy2(attune, self.attune)
        self.attune.chmod(0o755)
        self.home.mkdir(exist_ok=True)
        os.chown(self.home, USER, USER)
        self.home.chmod(0o700)
        for model in ("mlp", "resnet18"):
            subprocess.run(self.command("zoo", "export", model, "-o", self.mine(f"{model}.onnx")),
                           env=self.environment(), check=True, stdout=log, stderr=log, timeout=300)

    def mine(self, name):
        return str(self.home / name)

    def environment(self):
        return {**os.environ, "HOME": str(self.home), "XDG_DATA_HOME": str(self.home)}

    def command(self, *words):
        return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", str(self.attune), *words]

    def ask(self, *words):
        """A command's output, or nothing when it was refused."""
        done = subprocess.run(self.command(*words, "--state", str(self.state)), env=self.environment(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=120)
        if done.returncode == 0:
            return done.stdout
        self.log.write(f"stranger: {' '.join(words)}: {done.stderr}")
        return None

    def count(self, what, answer):
        self.counts[what] += answer is not None

    def submit(self):
        self.count("sent", self.ask("submit", self.mine("mlp.onnx"), "--trials", "2", "--threads", "1", "-o",
                                    self.mine("mlp.attune"), "--seed", str(self.random.randrange(1000))))

    def fetch(self):
        if self.done:
            self.count("fetched", self.ask("jobs", "fetch", self.random.choice(self.done), "-o",
                                           self.mine("fetched.attune"), "--records", self.mine("records.db")))

    def cancel(self):
        if self.open:
            self.count("cancelled", self.ask("jobs", "cancel", self.random.choice(self.open)))

    def prune(self):
        pruned = self.ask("jobs", "prune", "--older-than", "0", "--json")
        self.counts["pruned"] += len(json.loads(pruned)["jobs"]) if pruned else 0

    def token(self):
        self.count("tokens", self.ask("scheduler", "token"))

    def break_off(self):
        """Killed as soon as something of what it sends is there, or a while later."""
        before = self.uploads()
        sending = subprocess.Popen(
            self.command("submit", self.mine("resnet18.onnx"), "--trials", "2", "--threads", "1", "-o",
                         self.mine("resnet18.attune"), "--state", str(self.state)),
            env=self.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        given_up = time.monotonic() + 20
        while sending.poll() is None and self.uploads() <= before and time.monotonic() < given_up:
            time.sleep(0.002)
        time.sleep(self.random.random() * 0.02)
        sending.send_signal(signal.SIGKILL)
        self.counts["broken off"] += sending.wait() == -signal.SIGKILL

    def uploads(self):
        try:
            return len(os.listdir(self.state / "uploads"))
        except OSError:
            return 0

    def look(self, jobs, ended):
        """What the scheduler's user sees of their jobs."""
        self.open = [job["id"] for job in jobs if job["state"] not in ended]
        self.done = [job["id"] for job in jobs if job["state"] == "done"]

    def act(self):
        kinds = [(self.submit, 0 if len(self.open) >= 3 else 4), (self.fetch, 3), (self.cancel, 0.5),
                 (self.prune, 0.1), (self.token, 0.5), (self.break_off, 1)]
        self.random.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]()
