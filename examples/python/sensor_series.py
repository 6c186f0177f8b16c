"""One sensor with a daily rhythm: a value that is usual at noon is an anomaly at night.

python sensor_series.py          writes sensor.png if matplotlib is there
"""

import numpy as np

import oif


def synthetic_sensor() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    times = np.datetime64("2026-01-01T00:00") + np.arange(96 * 60) * np.timedelta64(15, "m")
    day = np.arange(len(times)) * 2 * np.pi / 96
    load = 50 + 20 * np.sin(day - np.pi / 2) + random.normal(size=len(times))
    load[96 * 50 + 8 : 96 * 50 + 14] = 68  # at three in the morning
    return times, load


def main() -> list[str]:
    times, load = synthetic_sensor()
    pipeline = oif.Pipeline(season="1d", alert_rate=0.0005)
    results = pipeline.process(load, times=times)
    begins = np.flatnonzero(results["episode"] == oif.Episode.BEGINS)
    lines = [f"{times[i]}  {load[i]:.1f}  {oif.Reason(results['reason'][i]).name.lower()}" for i in begins]
    print("\n".join(lines))
    if hasattr(oif, "plot"):
        oif.plot.data(load, results, times=times, columns=["load"])[0].figure.savefig("sensor.png")
    return lines


if __name__ == "__main__":
    main()
