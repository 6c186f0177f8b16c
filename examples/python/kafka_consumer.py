"""Score a topic of JSON messages; the state is saved before the offsets are committed, so no message is lost.

pip install kafka-python
python kafka_consumer.py metrics localhost:9092

Messages: {"host": "web-1", "time": "2026-11-15T22:00:00Z", "cpu": 40.1, "latency_ms": 20.3}
"""

import json
import sys
from collections.abc import Callable, Iterable
from typing import Any, Protocol

import oif


class Message(Protocol):
    """What a consumer yields: of kafka-python, confluent-kafka's deserialised ones, or a test's."""

    @property
    def value(self) -> bytes: ...


def watch(
    messages: Iterable[Message],
    pipeline: oif.Pipeline,
    alert: Callable[[dict[str, Any]], object],
    commit: Callable[[], object] = lambda: None,
    save_every: int = 10_000,
) -> None:
    for count, message in enumerate(messages, 1):
        row = json.loads(message.value)
        result = pipeline.process_one(row)
        if result.episode is oif.Episode.BEGINS:  # once for each incident, not for each row
            reasons = sorted(pipeline.explain(), key=lambda why: -why.share)[:2]
            alert({**row, **result.to_dict(), "why": [why.to_dict() for why in reasons]})
        if count % save_every == 0:
            pipeline.save()
            commit()


def main() -> None:
    from kafka import KafkaConsumer

    consumer = KafkaConsumer(sys.argv[1], bootstrap_servers=sys.argv[2:], group_id="oif", enable_auto_commit=False)
    with oif.Pipeline.open("topic.oif", key="host", time="time", alert_rate=0.001, max_keys=10_000, evicted="keep") as pipeline:
        watch(consumer, pipeline, lambda found: print(json.dumps(found), flush=True), consumer.commit)


if __name__ == "__main__":
    main()
