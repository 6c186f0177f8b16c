package oif.flink.demo;

import java.util.Map;
import oif.Params;
import oif.Pipeline;
import oif.Result;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * The negative control of the tests: its models are not part of checkpoints. After a failure its
 * results must differ from those of one process. Otherwise the tests could not detect a loss.
 */
public final class Forgetful extends KeyedProcessFunction<String, Reading, String> {
    private static final long serialVersionUID = 1;

    private final String detector;
    private transient Pipeline pipeline;

    public Forgetful(Map<String, String> options) {
        detector = options.get("detector");
    }

    @Override
    public void open(OpenContext context) {
        pipeline = new Pipeline(Params.of(detector), 3, Params.options());
    }

    @Override
    public void processElement(Reading r, Context context, Collector<String> out) {
        Result result = pipeline.process(Pipeline.utf8(r.pump), r.time, r.numbers());
        out.collect(r.result(result.score(), result.threshold(), result.anomaly()));
    }

    @Override
    public void close() {
        if (pipeline != null) {
            pipeline.close();
        }
    }
}
