package oif.flink.bench;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Follows the operator in its thread and measures the processor time of that thread: for the rows
 * after the first ones, and for each checkpoint from its barrier to the next row. Writes a report when
 * the input ends.
 */
final class Probe<T> extends AbstractStreamOperator<Void> implements OneInputStreamOperator<T, Void>, BoundedOneInput {
    private static final long serialVersionUID = 1;

    /** Selects the number of a value that goes into a checksum of all bits. */
    interface Number<T> extends ToDoubleFunction<T>, Serializable {}

    private final Number<T> number;
    private final String folder;
    private final long firstRows;
    private transient ThreadMXBean threads;
    private transient OperatingSystemMXBean process;
    private transient List<String> checkpoints;
    private transient long rows, sum, checkpoint, checkpointBegan, checkpointNanos;
    private transient long rowsBegan, wallBegan, processBegan;
    private transient boolean isCounting, isCheckpoint;

    Probe(Number<T> number, String folder, long firstRows) {
        this.number = number;
        this.folder = folder;
        this.firstRows = firstRows;
    }

    @Override
    public void open() throws Exception {
        super.open();
        threads = ManagementFactory.getThreadMXBean();
        process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        checkpoints = new ArrayList<>();
    }

    @Override
    public void processElement(StreamRecord<T> element) {
        if (isCheckpoint) {
            endOfCheckpoint();
        }
        sum += Double.doubleToRawLongBits(number.applyAsDouble(element.getValue()));
        if (++rows == firstRows) {
            isCounting = true;
            rowsBegan = threads.getCurrentThreadCpuTime();
            processBegan = process.getProcessCpuTime();
            wallBegan = System.currentTimeMillis();
        }
    }

    /** Flink calls this before any operator of this thread writes its state. */
    @Override
    public void prepareSnapshotPreBarrier(long id) {
        checkpoint = id;
        isCheckpoint = true;
        checkpointBegan = threads.getCurrentThreadCpuTime();
    }

    private void endOfCheckpoint() {
        isCheckpoint = false;
        long nanos = threads.getCurrentThreadCpuTime() - checkpointBegan;
        checkpoints.add("[" + checkpoint + "," + rows + "," + nanos + "]");
        checkpointNanos += isCounting ? nanos : 0;
    }

    @Override
    public void endInput() throws IOException {
        String found = "{\"rows\":" + rows + ",\"measured_rows\":" + (rows - firstRows) + ",\"sum\":\"" + Long.toUnsignedString(sum)
                + "\",\"thread_nanos\":" + (threads.getCurrentThreadCpuTime() - rowsBegan) + ",\"checkpoint_nanos\":" + checkpointNanos
                + ",\"process_nanos\":" + (process.getProcessCpuTime() - processBegan) + ",\"wall_began_ms\":" + wallBegan
                + ",\"wall_ended_ms\":" + System.currentTimeMillis() + ",\"checkpoints\":[" + String.join(",", checkpoints) + "]}\n";
        Files.createDirectories(Path.of(folder));
        Files.writeString(Path.of(folder, getRuntimeContext().getTaskInfo().getIndexOfThisSubtask() + ".json"), found);
    }
}
