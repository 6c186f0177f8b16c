"""Rows from an asyncio queue. A row takes microseconds and needs no thread; a long history is learned in one, without the
GIL, so the event loop continues meanwhile.

python asyncio_stream.py
"""

import asyncio

import numpy as np

import oif


async def produce(queue: asyncio.Queue[dict[str, float] | None]) -> None:
    random = np.random.default_rng(2)
    for i in range(1000):
        load, heat = random.normal(size=2)
        await queue.put({"load": load + (9 if i == 900 else 0), "heat": heat})
    await queue.put(None)


async def watch(queue: asyncio.Queue[dict[str, float] | None], pipeline: oif.Pipeline) -> list[int]:
    found, count = [], 0
    while (row := await queue.get()) is not None:
        if pipeline.process_one(row).episode is oif.Episode.BEGINS:  # once for each incident, not for each row
            found.append(count)
        count += 1
    return found


async def main() -> list[int]:
    history = np.random.default_rng(1).normal(size=(20_000, 2))
    pipeline = oif.Pipeline(alert_rate=0.001)
    pipeline.column_names = ["load", "heat"]
    await asyncio.to_thread(pipeline.process, history)
    queue: asyncio.Queue[dict[str, float] | None] = asyncio.Queue(100)
    _, found = await asyncio.gather(produce(queue), watch(queue, pipeline))
    print("incidents begin with:", found)
    return found


if __name__ == "__main__":
    asyncio.run(main())
