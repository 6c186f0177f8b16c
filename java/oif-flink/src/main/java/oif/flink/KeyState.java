package oif.flink;

import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;

/**
 * What Flink keeps for the current key: a base, which is a snapshot of its model, the rows learned
 * since, and when it was last seen. A key with few rows has no base. The layout is the same for the
 * operator and the function, so a job can change from one to the other.
 */
record KeyState(ValueState<byte[]> base, ListState<byte[]> log, ValueState<Long> seen) {
    static final ValueStateDescriptor<byte[]> BASE =
            new ValueStateDescriptor<>("oif-base", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
    static final ListStateDescriptor<byte[]> LOG =
            new ListStateDescriptor<>("oif-log", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO);
    static final ValueStateDescriptor<Long> SEEN = new ValueStateDescriptor<>("oif-seen", Types.LONG);

    static KeyState of(RuntimeContext context) {
        return new KeyState(context.getState(BASE), context.getListState(LOG), context.getState(SEEN));
    }

    void clear() {
        base.clear();
        log.clear();
        seen.clear();
    }
}
