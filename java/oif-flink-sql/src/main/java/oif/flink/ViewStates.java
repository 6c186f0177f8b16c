package oif.flink;

import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.table.api.dataview.ListView;
import org.apache.flink.table.api.dataview.MapView;

/** Adapts the state of a table function to {@link Models}. Views are read on demand. */
final class ViewStates {
    private ViewStates() {}

    /** One value. Flink would read a plain state argument for every row; it reads a map with one entry on demand. */
    record Value(MapView<Integer, byte[]> view) implements ValueState<byte[]> {
        private static final Integer ONLY = 0;

        @Override
        public byte[] value() throws java.io.IOException {
            try {
                return view.get(ONLY);
            } catch (Exception e) {
                throw new java.io.IOException(e);
            }
        }

        @Override
        public void update(byte[] value) throws java.io.IOException {
            try {
                view.put(ONLY, value);
            } catch (Exception e) {
                throw new java.io.IOException(e);
            }
        }

        @Override
        public void clear() {
            view.clear();
        }
    }

    /** The pieces of a log. */
    record Pieces(ListView<byte[]> view) implements ListState<byte[]> {
        @Override
        public Iterable<byte[]> get() throws Exception {
            Iterable<byte[]> pieces = view.get();
            return pieces == null ? List.of() : pieces;
        }

        @Override
        public void add(byte[] piece) throws Exception {
            view.add(piece);
        }

        @Override
        public void addAll(List<byte[]> pieces) throws Exception {
            view.addAll(pieces);
        }

        @Override
        public void update(List<byte[]> pieces) throws Exception {
            view.clear();
            view.addAll(pieces);
        }

        @Override
        public void clear() {
            view.clear();
        }
    }
}
