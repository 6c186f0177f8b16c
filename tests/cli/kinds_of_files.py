#!/usr/bin/env python3
"""Kinds of files as they lie around, each given to `oif score` as a newcomer would type it.

usage: kinds_of_files.py PROGRAM

Each must give a useful result: the incident in it is an alert whose reason names the column, there are few others, and no note is longer
than a newcomer reads; or it must be refused with a line that says what to do. Files are written into the current folder.
"""

import datetime
import gzip
import itertools
import json
import random
import re
import subprocess
import sys

ROWS, INCIDENT = 400, 300
LONG = 900  # rows of each model where a file has several
START = datetime.datetime(2026, 11, 2)
MOST_ALERTS = 8
MOST_CHARACTERS = 330  # of a note
BUSY = ("%user ", "%idle ")  # one column is nearly 100 minus the other, so both are as far away

KINDS = []


class Expected:
    """found: what one of the alerts has, or a tuple of which it has one; notes: what stderr has; refused: the one line of a file that is not read has this."""

    def __init__(self, *options, found="latency ", notes=(), refused=None):
        self.options, self.found, self.notes, self.refused = options, found, notes, refused


def kind(name, expected=None):
    def add(make):
        KINDS.append((name, expected or Expected(), make))
        return make

    return add


def metrics(count=ROWS, incident=INCIDENT, seed=1):
    """(load, latency, memory) of each row; one row is an incident."""
    draw = random.Random(seed)
    for i in range(count):
        is_bad = i == incident
        yield draw.gauss(40, 3), 900.0 if is_bad else draw.gauss(120, 8), draw.gauss(6000, 200)


def times(form, step=60, count=ROWS):
    return [(START + datetime.timedelta(seconds=step * i)).strftime(form) for i in range(count)]


def lines(*parts):
    return "".join(f"{line}\n" for part in parts for line in part)


def table(header, first=None, form="{:.2f},{:.2f},{:.0f}", count=ROWS):
    """A header, then for each row its first fields and the metrics."""
    rows = (form.format(*row) for row in metrics(count))
    return lines([header], rows if first is None else (f"{a},{b}" for a, b in zip(first, rows)))


# ---- CSV: times ----

kind("iso.csv")(lambda: table("time,load,latency,memory", times("%Y-%m-%dT%H:%M:%SZ")))
kind("us.csv")(lambda: table("Date,load,latency,memory", times("%m/%d/%Y %I:%M:%S %p", 3600)))
kind("uk.csv")(lambda: table("Date,load,latency,memory", times("%d/%m/%Y %H:%M", 3600)))
kind("german.csv")(lambda: table("Zeit,load,latency,memory", times("%d.%m.%Y %H:%M:%S")))
kind("days.csv")(lambda: table("day,load,latency,memory", times("%Y%m%d", 86400)))
kind("months.csv")(lambda: table("when,load,latency,memory", times("%d-%b-%Y %H:%M:%S")))
kind("rfc2822.csv")(lambda: table("when,load,latency,memory", (f'"{time}"' for time in times("%a, %d %b %Y %H:%M:%S +0000"))))
kind("milliseconds.csv")(lambda: table("ts,load,latency,memory", [1762000000000 + 60000 * i for i in range(ROWS)]))
kind("two_columns.csv", Expected("--time", "Date+Time"))(lambda: table("Date,Time,load,latency,memory", times("%Y-%m-%d,%H:%M:%S")))
kind("load_time.csv")(
    lambda: table("load_timestamp,timestamp,load,latency,memory", (f"2026-11-18T00:00:00Z,{time}" for time in times("%Y-%m-%d %H:%M:%S")))
)
kind("calendar.csv", Expected(notes=["left out"]))(lambda: table("year,month,day,hour,load,latency,memory", times("%Y,%-m,%-d,%-H", 3600)))

# ---- CSV: numbers ----

kind("percent.csv")(lambda: table("load,latency,memory", form="{:.2f}%,{:.2f},{:.0f}"))
kind("units.csv")(lambda: table("load,latency,memory", form="{:.2f},{:.1f}ms,{:.0f} MB"))
kind("dollars.csv")(lambda: table("load,latency,memory", form='{:.2f},${:.2f},"{:,.0f}"'))
kind("decimal_commas.csv")(lambda: table("load,latency,memory").replace(",", ";").replace(".", ","))
kind("scientific.csv")(lambda: table("load,latency,memory", form="{:.5e},{:.5E},{:+.0f}"))
kind("question_marks.csv")(lambda: re.sub(r"(\n\d5\.\d\d),", r"\n?,", table("load,latency,memory")))
kind("excel_errors.csv")(lambda: re.sub(r"\n4\d\.\d1,", "\n#N/A,", table("load,latency,memory")))
kind("database.csv")(lambda: re.sub(r"\n4\d\.\d1,", "\n\\\\N,", table("load,latency,memory")))
kind("nulls.csv")(lambda: re.sub(r"\n4\d\.\d1,", "\nnull,", table("load,latency,memory")))
kind("sentinels.csv", Expected("--missing", "-200", found="c7 "))(
    lambda: lines(
        [",".join(f"c{i}" for i in range(8))],
        (",".join("-200" if row % 40 == 9 else "900" if row == INCIDENT and i == 7 else f"{random.Random(9 * row + i).gauss(50, 4):.1f}" for i in range(8))
         for row in range(ROWS)),
    )  # fmt: skip
)
kind("all_missing.csv", Expected(found=None, notes=["missing"]))(lambda: lines(["a,b"], ["NA,"] * 60))

# ---- CSV: columns ----

kind("pandas_index.csv")(lambda: table(",load,latency,memory", range(ROWS)))
kind("log_lines.csv", Expected(refused="--category Level,Content"))(
    lambda: lines(["LineId,Level,Content"], (f"{i + 1},INFO,session opened for user {i % 7}" for i in range(ROWS)))
)
kind("labels.csv")(lambda: table("label,load,latency,memory", (int(i == INCIDENT) for i in range(ROWS))))
kind("booleans.csv")(lambda: table("up,load,latency,memory", ("true" if i % 9 else "false" for i in range(ROWS))))
kind("constant.csv")(lambda: table("version,load,latency,memory", ["3"] * ROWS))
kind("hosts.csv", Expected("--key", "host"))(
    lambda: lines(
        ["host,load,latency,memory"],
        (f"web-{host},{a:.2f},{b:.2f},{c:.0f}" for rows in zip(metrics(LONG, 700), metrics(LONG, 750, 2)) for host, (a, b, c) in enumerate(rows)),
    )
)
kind("wide.csv", Expected(found="c250 "))(
    lambda: lines(
        [",".join(f"c{i}" for i in range(300))],
        (",".join("9000" if row == INCIDENT and i == 250 else f"{random.Random(row * 300 + i).gauss(50, 5):.1f}" for i in range(300)) for row in range(200, 340)),
    )  # fmt: skip
)

# ---- CSV: files ----

kind("tabs.tsv")(lambda: table("load,latency,memory").replace(",", "\t"))
kind("blanks.txt", Expected("--csv", "sep=space"))(lambda: table("load,latency,memory").replace(",", "  "))
kind("excel.csv")(lambda: "sep=;\n" + table("load,latency,memory").replace(",", ";"))
kind("comments.csv")(lambda: "# exported by a device\n# unit: ms\n" + table("load,latency,memory"))
kind("byte_order_mark.csv")(lambda: "\ufeff" + table("load,latency,memory").replace("\n", "\r\n"))
kind("no_header.csv", Expected(found="x1 "))(lambda: table("x").split("\n", 1)[1])
kind("table.csv.gz")(lambda: gzip.compress(table("load,latency,memory").encode()))
kind("utf16.csv", Expected(refused="iconv"))(lambda: table("load,latency,memory").encode("utf-16"))
kind("table.xlsx", Expected(refused="convert it"))(lambda: b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml" + bytes(400))
kind("table.parquet", Expected(refused="Parquet"))(lambda: b"PAR1\x15\x04\x15" + bytes(400) + b"PAR1")

# ---- JSON ----


def objects(count=ROWS):
    for i, (load, latency, memory) in enumerate(metrics(count)):
        yield {"time": 1762000000 + 60 * i, "host": "a", "load": round(load, 2), "net": {"latency": round(latency, 2), "memory": round(memory)}}


kind("nested.ndjson", Expected(found="net.latency"))(lambda: lines(json.dumps(one) for one in objects()))
kind("array.json", Expected(found="net.latency"))(lambda: json.dumps(list(objects()), indent=2))
kind("inside.json", Expected(found="net.latency"))(lambda: json.dumps({"status": "ok", "data": {"rows": list(objects())}}))
kind("strings.ndjson", Expected(found='"latency"'))(
    lambda: lines(json.dumps({"load": f"{a:.2f}", "latency": f"{b:.1f} ms", "memory": f"{c:.0f}"}) for a, b, c in metrics())
)

# ---- Other programs ----


@kind("vmstat.txt", Expected(found="cs "))
def vmstat():
    head = [
        "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----",
        " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st",
    ]
    rows = [f" 1  0      0 {19408 + i * 37 % 91} 816596 20221060    0    0   {b:.0f}   {a:.0f}  {c:.0f} {b * 10:.0f} {a:.0f}  5 55  0  0"
            for i, (a, b, c) in enumerate(metrics())]  # fmt: skip
    return lines(*(head + rows[i : i + 20] for i in range(0, ROWS, 20)))


def sar_rows(count, incident):
    clock = times("%H:%M:%S", 60, count)
    rows = [f"{at}        all     {b / 12:.2f}      0.00      {a / 20:.2f}      0.00      0.00     {100 - b / 12 - a / 20:.2f}"
            for at, (a, b, _) in zip(clock, metrics(count, incident))]  # fmt: skip
    head = "00:00:00        CPU     %user     %nice   %system   %iowait    %steal     %idle"
    return lines(["Linux 6.1.0 (web-1) \t11/02/26 \t_x86_64_\t(2 CPU)", "", head], rows)


kind("sar.txt", Expected(found=BUSY))(lambda: sar_rows(LONG, 700))
kind("sar_of_a_night.txt", Expected(found=BUSY))(lambda: sar_rows(ROWS, INCIDENT))


@kind("pidstat.txt", Expected(found=("%usr ", "%CPU ")))
def pidstat():
    head = "%s      UID       PID    %%usr %%system  %%guest   %%wait    %%CPU   CPU  Command"
    rows = [f"{at}     0      {700 + pid}   {b / 12:.2f}    {a / 20:.2f}    0.00    0.00   {b / 12 + a / 20:.2f}     0  worker{pid}"
            for at, both in zip(times("%H:%M:%S", 10, LONG), zip(metrics(LONG, 700), metrics(LONG, -1, 2))) for pid, (a, b, _) in enumerate(both)]  # fmt: skip
    return lines(["Linux 6.1.0 (web-1) \t11/02/26 \t_x86_64_\t(2 CPU)", "", head % "00:00:00"], rows)


@kind("iostat.txt", Expected(found="w_await"))
def iostat():
    head = ["Device            r/s     rkB/s   w/s     wkB/s   r_await w_await  %util"]
    blocks = ([*head, f"sda              {a:.2f}    {c:.2f}    {a / 2:.2f}   {c / 3:.2f}    1.50    {b / 10:.2f}   {a:.2f}", ""] for a, b, c in metrics(LONG, 700))
    return lines(["Linux 6.1.0 (web-1) \t11/02/26 \t_x86_64_\t(2 CPU)", ""], *blocks)


@kind("sadf.csv", Expected(found=BUSY))
def sadf():
    rows = (f"web-1;60;{at} UTC;-1;{b / 12:.2f};0.00;{a / 20:.2f};{100 - b / 12 - a / 20:.2f}" for at, (a, b, _) in zip(times("%Y-%m-%d %H:%M:%S", 60, LONG), metrics(LONG, 700)))
    return lines(["# hostname;interval;timestamp;CPU;%user;%nice;%system;%idle"], rows)


@kind("sadf.json", Expected(found="user"))
def sadf_json():
    statistics = [{"timestamp": {"date": "2026-11-02", "time": at, "utc": 1}, "cpu-load": [{"cpu": "all", "user": round(b / 12, 2), "system": round(a / 20, 2)}]}
                  for at, (a, b, _) in zip(times("%H:%M:%S"), metrics())]  # fmt: skip
    return json.dumps({"sysstat": {"hosts": [{"nodename": "web-1", "statistics": statistics}]}}, indent=1)


@kind("scrapes.prom", Expected(found="latency_seconds"))
def prometheus():
    scrape = '# TYPE load gauge\nload{{host="a"}} {:.2f}\n# TYPE latency_seconds gauge\nlatency_seconds{{host="a"}} {:.3f}\nmemory_bytes {:.0f}\n# EOF'
    return lines(scrape.format(*row) for row in metrics())


@kind("telegraf.influx", Expected(found="latency"))
def influx():
    return lines(f"web,host=a load={a:.2f},latency={b:.2f},memory={c:.0f}i {1762000000 + 60 * i}000000000" for i, (a, b, c) in enumerate(metrics(LONG, 700)))


@kind("access.log", Expected(found="high"))
def access_log():
    draw = random.Random(4)
    for_minute = ([(minute, 200) for _ in range(draw.randint(4, 7))] + [(minute, 500)] * (90 if minute == 200 else 0) for minute in range(300))
    return lines(
        f'10.0.0.{draw.randint(1, 9)} - - [{(START + datetime.timedelta(minutes=minute)).strftime("%d/%b/%Y:%H:%M:%S +0000")}] '
        f'"GET /page/{draw.randint(1, 50)} HTTP/1.1" {status} {draw.randint(900, 1100)} "-" "Mozilla/5.0"'
        for minutes in for_minute for minute, status in minutes
    )  # fmt: skip


kind("syslog.txt", Expected(refused="count its lines"))(
    lambda: lines(f"Nov  2 {at} web-1 sshd[{700 + i}]: Accepted publickey for root from 10.0.0.{i % 9}" for i, at in enumerate(times("%H:%M:%S")))
)
kind("long.csv", Expected("--pivot", "metric:value", found='"latency"'))(
    lambda: lines(
        ["time,metric,value"],
        (f"{at},{name},{value:.2f}" for at, row in zip(times("%Y-%m-%dT%H:%M:%SZ"), metrics()) for name, value in zip(("load", "latency", "memory"), row)),
    )
)


@kind("counters.csv", Expected("--rate", "*_total", found="rate(rx_total) "))
def counters():
    totals = itertools.accumulate(received for _, received, _ in metrics())
    return lines(["rx_total,load"], (f"{total:.0f},{load:.2f}" for total, (load, _, _) in zip(totals, metrics())))


# ---- The judgement ----


def problem(program, name, expected):
    """What is wrong with what the program makes of a file; None: nothing."""
    command = [program, "score", "--only-alerts", *expected.options, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    notes = done.stderr.splitlines()
    if expected.refused is not None:
        is_good = done.returncode == 1 and len(notes) in (1, 2) and expected.refused in notes[-1] and not done.stdout
        return None if is_good and len(notes[-1]) <= MOST_CHARACTERS else f"exit {done.returncode}, {done.stderr!r}"
    if done.returncode != 0:
        return f"exit {done.returncode}, {done.stderr!r}"
    for note in notes:
        if len(note) > MOST_CHARACTERS:
            return f"a note of {len(note)} characters: {note}"
    for text in expected.notes:
        if text not in done.stderr:
            return f"no note on {text!r}: {done.stderr!r}"
    alerts = [line for line in done.stdout.splitlines() if not line.endswith("why")]  # without the header
    found = (expected.found,) if isinstance(expected.found, str) else expected.found
    if found and not any(text in line for line in alerts for text in found):
        return f"not found in {len(alerts)} alerts: {done.stdout[-700:]!r} {done.stderr!r}"
    return f"{len(alerts)} alerts" if len(alerts) > MOST_ALERTS else None


def main():
    program = sys.argv[1]
    failed = 0
    for name, expected, make in KINDS:
        content = make()
        with open(name, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        wrong = problem(program, name, expected)
        if wrong:
            failed += 1
            print(f"{name}: {wrong}")
    print(f"{len(KINDS) - failed} of {len(KINDS)} kinds of files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
