"""What ``deepdelve --help`` costs beside Python with the command-line library alone, both with compiled bytecode.

``python -m benchmarks.startup [--rounds N] [--json]`` prints the median CPU and wall seconds and the peak memory of both
in one run, alternating, and their ratio. The aim: at most 2.5 times the baseline, 0.2 s of CPU and 25 MB.
"""

import argparse
import compileall
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = "import argparse; argparse.ArgumentParser(description='nothing').parse_args(['--help'])"
PRODUCT = "import sys; from deepdelve.__main__ import main; sys.argv = ['deepdelve', '--help']; main()"
# The peak of the program itself: what wait4 tells includes the parent's, from before the exec.
PEAK = """
import atexit, re, sys
def tell():
    status = open("/proc/self/status").read()
    print(re.search(r"VmHWM:\\s+(\\d+)", status).group(1), file=sys.stderr)
atexit.register(tell)
"""
LIMITS = {"ratio": 2.5, "cpu_seconds": 0.2, "memory_mb": 25.0}


def measure(code: str, env: dict[str, str]) -> dict[str, float]:
    """CPU and wall seconds of one fresh interpreter that runs this code."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code], env=env, cwd=tempfile.gettempdir(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"the measured program failed with {process.returncode}")
    return {"cpu_seconds": usage.ru_utime + usage.ru_stime, "wall_seconds": wall}


def peak_mb(code: str, env: dict[str, str]) -> float:
    """Peak memory of one fresh interpreter that runs this code, in MB (Linux)."""
    done = subprocess.run([sys.executable, "-c", PEAK + code], env=env, capture_output=True, text=True, check=True)
    return int(done.stderr.split()[-1]) / 1024


def compare(rounds: int) -> dict[str, object]:
    """Medians of both, measured in turn, and the product's CPU as a multiple of the baseline's."""
    compileall.compile_dir(str(ROOT / "src"), quiet=1, workers=1)
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = str(ROOT / ".typecheck")
    taken: dict[str, list[dict[str, float]]] = {"argparse": [], "deepdelve": []}
    for _ in range(rounds + 1):
        taken["argparse"].append(measure(BASELINE, env))
        taken["deepdelve"].append(measure(PRODUCT, env))
    # The first round fills the disk cache and is left out.
    medians = {name: {key: round(statistics.median(one[key] for one in runs[1:]), 4) for key in runs[0]} for name, runs in taken.items()}
    for name, code in (("argparse", BASELINE), ("deepdelve", PRODUCT)):
        medians[name]["memory_mb"] = round(peak_mb(code, env), 2)
    ratio = medians["deepdelve"]["cpu_seconds"] / medians["argparse"]["cpu_seconds"]
    return {"rounds": rounds, **medians, "ratio": round(ratio, 2), "limits": LIMITS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = compare(args.rounds)
    if args.json:
        print(json.dumps(result))
        return
    for name in ("argparse", "deepdelve"):
        print(f"{name:<10}", "  ".join(f"{key} {value}" for key, value in result[name].items()))
    print(f"ratio {result['ratio']} (limit {LIMITS['ratio']})")


if __name__ == "__main__":
    main()
