package oif.flink;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import oif.Attribution;
import oif.Result;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;

/** A value of the stream with its result. A POJO for Flink's serializers. */
public class Scored<T> {
    public T value;
    public double score;
    public double threshold;
    public boolean anomaly;
    public boolean ready;
    public boolean learned;
    public Result.Episode episode;
    public Result.Grade grade;
    public double severity;
    public Result.Reason reason;

    /** For anomalies: the columns that contribute most, as many as explain() asks for. Otherwise empty. */
    public List<Why> why;

    public Scored() {}

    Scored(T value, Result result, List<Why> why) {
        this.value = value;
        this.score = result.score();
        this.threshold = result.threshold();
        this.anomaly = result.anomaly();
        this.ready = result.ready();
        this.learned = result.learned();
        this.episode = result.episode();
        this.grade = result.grade();
        this.severity = result.severity();
        this.reason = result.reason();
        this.why = why;
    }

    /** The contribution of one column to an anomaly. */
    public static class Why {
        private static final double NEARLY_ALL = 0.995;

        public String column;
        public double share;

        /** 1: higher than usual, -1: lower, 0: neither. */
        public int direction;

        public Result.Reason reason;

        /** As in {@link oif.Attribution}. */
        public double size;

        /** As in {@link oif.Attribution}. */
        public double usual;

        public Why() {}

        Why(String column, Attribution attribution) {
            this.column = column;
            this.share = attribution.share();
            this.direction = attribution.direction();
            this.reason = attribution.reason();
            this.size = attribution.size();
            this.usual = attribution.usual();
        }

        @Override
        public String toString() {
            String way = direction > 0 ? " high" : direction < 0 ? " low" : "";
            String judge = reason == Result.Reason.VALUES ? "" : " " + reason.name().toLowerCase(Locale.ROOT);
            String part = share < NEARLY_ALL ? " " + Math.round(100 * share) + "%" : "";
            return column + way + judge + part;
        }
    }

    @Override
    public String toString() {
        return value + " score=" + score + (anomaly ? " " + grade + " " + why : "");
    }

    /** The type of scored values, from the type of the values. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static <T> TypeInformation<Scored<T>> typeOf(TypeInformation<T> value) {
        Map<String, TypeInformation<?>> why = new TreeMap<>();
        why.put("column", Types.STRING);
        why.put("share", Types.DOUBLE);
        why.put("direction", Types.INT);
        why.put("reason", Types.ENUM(Result.Reason.class));
        why.put("size", Types.DOUBLE);
        why.put("usual", Types.DOUBLE);
        Map<String, TypeInformation<?>> fields = new TreeMap<>();
        fields.put("value", value);
        for (String number : List.of("score", "threshold", "severity")) {
            fields.put(number, Types.DOUBLE);
        }
        for (String truth : List.of("anomaly", "ready", "learned")) {
            fields.put(truth, Types.BOOLEAN);
        }
        fields.put("episode", Types.ENUM(Result.Episode.class));
        fields.put("grade", Types.ENUM(Result.Grade.class));
        fields.put("reason", Types.ENUM(Result.Reason.class));
        fields.put("why", Types.LIST(Types.POJO(Why.class, why)));
        return Types.POJO((Class) Scored.class, fields);
    }
}
