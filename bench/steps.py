#!/usr/bin/env python3
"""What it costs to read long files of steps: steps.py FLAMEBANK WORK.  CPU time and memory of a job
log and of JMeter's rows, 250 MB each, said per GB."""
import json
import os
import random
import sys

flamebank, work = sys.argv[1:]
MB = 250
random.seed(1)
LATENCY = "benchmark_http_client.latency_2xx"


def statistic(name):
    points = [1 - 0.5 ** (i / 8) for i in range(80)]
    return {"id": name, "count": "44000", "percentiles": [
        {"percentile": round(p, 10), "count": str(int(44000 * p)), "duration": f"{p * p:.9f}s"}
        for p in points]}


def job_log(path):
    ids = [LATENCY] + [f"benchmark_http_client.other_{k}" for k in range(6)]
    results = [{"name": name, "statistics": [statistic(i) for i in ids],
                "counters": [{"name": f"benchmark.c{i}", "value": str(i)} for i in range(20)] +
                [{"name": "benchmark.http_2xx", "value": "44000"}],
                "execution_duration": "110.0s"} for name in ("worker_0", "worker_1", "global")]
    document = json.dumps({"results": results}, indent=1)
    noise = "".join(f"[2026-09-06 20:12:00.{i:03d}][1][info] line {i} of the proxy\n"
                    for i in range(200))
    with open(path, "w") as out:
        for k in range(MB * 1000000 // (len(document) + len(noise))):
            t = 1788725520 + k * 120
            out.write(f'#NH-STEP {{"rps": 400, "warmup": false, "start": {t}, "end": {t + 111}, '
                      f'"metrics_before": "", "metrics_after": ""}}\n{document}\n#NH-END\n{noise}')


def jmeter(path):
    rows = [f"%d,{random.randint(1, 90)},GET /item/{i},200,OK,Thread Group 1-{i % 30},text,true,,1203,"
            f"110,30,30,http://10.0.0.7:8080/item/{i}?x=1,{random.randint(1, 50)},0,1\n"
            for i in range(20000)]
    size, t = 0, 1788725520000
    with open(path, "w") as out:
        out.write("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,"
                  "failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,"
                  "Connect\n")
        while size < MB * 1000000:
            text = "".join(row % (t + i // 20) for i, row in enumerate(rows))
            out.write(text)
            size += len(text)
            t += 1000


for name, make in (("job log", job_log), ("JMeter's rows", jmeter)):
    path = f"{work}/steps.big"
    make(path)
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.execv(flamebank, [flamebank, "steps", path])
    _, status, usage = os.wait4(pid, 0)
    cpu, size = usage.ru_utime + usage.ru_stime, os.path.getsize(path)
    print(f"{name:15} {cpu * 1e9 / size:5.2f} s CPU a GB, {usage.ru_maxrss / 1024:.0f} MB"
          + ("" if status == 0 else "  FAILED"))
    os.unlink(path)
