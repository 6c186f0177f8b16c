"""A terminal for tests of oif score --watch: runs the tool on a pty and keeps what the screen shows."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import threading
import time

OIF = sys.argv[1]
ESCAPE = re.compile(r"\033\[([0-9;]*)([HJKm])")


class Screen:
    """As much of a terminal as the tool uses: home, clear, colours, line ends, wrapping and scrolling."""

    def __init__(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.x = self.y = self.wrapped = 0
        self.cells = [[" "] * columns for _ in range(lines)]

    def text(self):
        return ["".join(line).rstrip() for line in self.cells]

    def next_line(self):
        self.y += 1
        if self.y == self.lines:
            self.y -= 1
            self.cells = self.cells[1:] + [[" "] * self.columns]

    def clear(self, code, what):
        if code == "J" and what == "2":
            self.cells = [[" "] * self.columns for _ in range(self.lines)]
            return
        self.cells[self.y][self.x:] = [" "] * (self.columns - self.x)
        for y in range(self.y + 1, self.lines if code == "J" else 0):
            self.cells[y] = [" "] * self.columns

    def put(self, character):
        if self.x == self.columns:
            self.wrapped += 1
            self.x = 0
            self.next_line()
        self.cells[self.y][self.x] = character
        self.x += 1

    def feed(self, text):
        at = 0
        while at < len(text):
            escape = ESCAPE.match(text, at)
            if escape and escape[2] == "H":
                self.x = self.y = 0
            elif escape and escape[2] in "JK":
                self.clear(escape[2], escape[1])
            elif text[at] == "\r":
                self.x = 0
            elif text[at] == "\n":
                self.next_line()
            elif not escape:
                assert text[at] >= " ", repr(text[at:at + 20])
                self.put(text[at])
            at = escape.end() if escape else at + 1


class Terminal:
    """The tool on a terminal of that size."""

    def __init__(self, *arguments, columns=120, lines=30, **environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.read(0, 1)  # until the size is set
            os.execve(OIF, [OIF, "score", *arguments], {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment})
        attributes = termios.tcgetattr(self.fd)
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(self.fd, termios.TCSANOW, attributes)
        self.printed, self.status = "", None
        self.resize(columns, lines)
        os.write(self.fd, b"\n")

    def resize(self, columns, lines):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.screen, self.seen = Screen(columns, lines), len(self.printed)

    def read(self, seconds):
        """Returns False once the tool has ended."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 1 << 16)
            while data and data[-1] >= 0x80:  # not within a character
                data += os.read(self.fd, 1)
                if data.decode(errors="ignore").encode() == data:
                    break
        except OSError:  # how Linux says that the other side is closed
            return False
        self.printed += data.decode()
        return True

    def shown(self):
        """The screen, by what was printed since the size was set; escapes that are cut off wait."""
        text = self.printed[self.seen:]
        end = text.rfind("\033") if re.search(r"\033\[?[0-9;]*$", text) else len(text)
        self.screen.feed(text[:end])
        self.seen += end
        return self.screen.text()

    def wait_for(self, pattern):
        """Until a line of the screen matches; fails after a minute."""
        deadline = time.monotonic() + 300
        while not any(re.search(pattern, line) for line in self.shown()):
            assert time.monotonic() < deadline and self.read(1), (pattern, self.shown())
        return self.screen.text()

    def wait_until_cleared(self):
        """Until the tool clears the screen, which follows a change of the size. Frames of the size before are not shown."""
        deadline = time.monotonic() + 300
        while "\033[2J" not in self.printed[self.seen:]:
            assert time.monotonic() < deadline and self.read(1), self.printed
        self.seen = self.printed.rindex("\033[2J")

    def settle(self):
        """Until the end of a frame."""
        while not self.printed.endswith("\033[J") and self.read(60):
            pass
        return self.shown()

    def end(self):
        """Until the tool has ended: what the screen shows then."""
        while self.read(60):
            pass
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.shown()

    def signal(self, number=signal.SIGWINCH):
        os.kill(self.pid, number)


def write_rows(terminal, path, rows, pattern):
    """Writes rows to a fifo while the terminal is read, until a line matches. Returns a
    function that closes it."""
    def write():
        with open(path, "w", encoding="utf-8") as file:
            file.write(rows)
            file.flush()
            closed.wait(120)

    closed = threading.Event()
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    terminal.wait_for(pattern)
    return closed.set


def run(*arguments, **options):
    """Returns the last screen, without empty lines at its end, and the terminal."""
    terminal = Terminal(*arguments, **options)
    lines = terminal.end()
    while lines and not lines[-1]:
        lines.pop()
    return lines, terminal


def make_alarms(path="alarms.csv", rows=6000):
    """Three hosts with times; after 2,000 rows web-2 has a burst every 1,000."""
    state = 7
    with open(path, "w", encoding="utf-8") as file:
        file.write("host,at,flow,pressure\n")
        for i in range(rows):
            state = state * 16807 % 2147483647
            burst = 90 if i > 2000 and i % 1000 > 960 and i % 3 == 2 else 0
            file.write(f"web-{i % 3},{1763208000 + 5 * i},{state % 400 / 100 + burst},{state % 17}\n")
