package oif.flink.demo;

import java.util.HashMap;
import java.util.Map;

/** The options of a program: {@code --name value --name value}. */
public final class Options {
    private Options() {}

    public static Map<String, String> read(String[] arguments, Map<String, String> defaults) {
        Map<String, String> options = new HashMap<>(defaults);
        for (int i = 0; i + 1 < arguments.length; i += 2) {
            options.put(arguments[i].substring(2), arguments[i + 1]);
        }
        return options;
    }
}
