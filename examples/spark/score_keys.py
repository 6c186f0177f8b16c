"""Score a stream of many keys with Spark: one model per key in Spark's state.

pip install pyspark pandas pyarrow online-iforest
python score_keys.py READINGS_FOLDER RESULTS_FOLDER CHECKPOINT_FOLDER

READINGS_FOLDER contains CSV files with row,pump,time,flow,pressure,temperature. Each file is a micro-batch. The job writes Parquet
files to RESULTS_FOLDER.
"""

import sys
from collections.abc import Iterator
from typing import Any

import pandas as pd
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StatefulProcessor, StatefulProcessorHandle

import oif

COLUMNS = ["flow", "pressure", "temperature"]
READINGS = "row LONG, pump STRING, time DOUBLE, flow DOUBLE, pressure DOUBLE, temperature DOUBLE"
RESULTS = "row LONG, pump STRING, score DOUBLE, threshold DOUBLE, anomaly BOOLEAN"


class Score(StatefulProcessor):
    def init(self, handle: StatefulProcessorHandle) -> None:
        self.model = handle.getValueState("model", "snapshot BINARY")
        self.pipeline = oif.Pipeline("online-iforest", alert_rate=0.001)
        self.pipeline.process(pd.DataFrame([[0.0] * len(COLUMNS)], columns=COLUMNS), [""])  # load_key needs the columns
        self.pipeline.drop("")

    def handleInputRows(self, key: tuple[str], rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        """Scores all rows of a key in a micro-batch: loads its model, processes the rows, saves the model."""
        (pump,) = key
        if self.model.exists():
            self.pipeline.load_key(bytes(self.model.get()[0]), pump)
        frame = pd.concat(rows).sort_values("row", ignore_index=True)  # Spark does not keep the order of rows
        results = self.pipeline.process(frame[COLUMNS], [pump] * len(frame), times=frame["time"].to_numpy())
        self.model.update((self.pipeline.save_key(pump),))
        self.pipeline.drop(pump)  # the next batch may run on another machine
        yield pd.concat([frame[["row", "pump"]], results[["score", "threshold", "anomaly"]]], axis=1)

    def close(self) -> None:
        pass


def main() -> None:
    readings, results, checkpoint = sys.argv[1:4]
    spark = (
        SparkSession.builder.appName("score-keys")
        .config("spark.sql.streaming.stateStore.providerClass",
                "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )  # fmt: skip
    rows = spark.readStream.schema(READINGS).option("header", True).option("maxFilesPerTrigger", 1).csv(readings)
    scored = rows.groupBy("pump").transformWithStateInPandas(Score(), RESULTS, outputMode="Append", timeMode="None")
    query = (
        scored.writeStream.format("parquet")
        .option("path", results)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    for progress in query.recentProgress:
        print(f"batch {progress['batchId']}: {progress['numInputRows']} rows in {progress['batchDuration']} ms")


if __name__ == "__main__":
    main()
