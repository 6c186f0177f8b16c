package oif.flink;

import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * Flink's state of the current key: a base (a snapshot of the model), a log of the rows learned since
 * the base, and the time when the key was last seen. A key with few rows has no base. The operator and
 * the function use the same layout, so a job can switch from one to the other.
 */
record KeyState(ValueState<byte[]> base, ListState<byte[]> log, ValueState<Long> seen) {
    static final ValueStateDescriptor<byte[]> BASE =
            new ValueStateDescriptor<>("oif-base", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
    static final ListStateDescriptor<byte[]> LOG =
            new ListStateDescriptor<>("oif-log", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
    static final ValueStateDescriptor<Long> SEEN = new ValueStateDescriptor<>("oif-seen", Types.LONG);

    /**
     * The name of the timer service. Flink uses this name for the timers of a KeyedProcessFunction, so
     * {@link OifOperator} must use it too.
     */
    static final String TIMERS = "user-timers";

    static KeyState of(RuntimeContext context) {
        return new KeyState(context.getState(BASE), context.getListState(LOG), context.getState(SEEN));
    }

    void clear() {
        base.clear();
        log.clear();
        seen.clear();
    }
}
