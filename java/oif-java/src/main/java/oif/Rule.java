package oif;

/**
 * A rule that holds back alerts.
 *
 * @param text the rule, as {@link Pipeline#setRules} got it
 * @param held the rows that it held back
 * @param firstSeconds the time of the first of these; NaN if there was none, or if it is unknown
 * @param lastSeconds the time of the last of these
 */
public record Rule(String text, long held, double firstSeconds, double lastSeconds) {
    private static final String UNSAFE = "[\",\\n\\r]"; // cannot be part of a pattern; ? matches them

    /** The rules that make only high values of these columns alerts. Patterns may have * and ?. */
    public static String onlyHigh(String... columns) {
        return each(columns, "direction=low");
    }

    /** The rules that make only low values of these columns alerts. */
    public static String onlyLow(String... columns) {
        return each(columns, "direction=high");
    }

    /** The rule that values of a column must be this far outside what was expected to be alerts. */
    public static String minChange(String column, double change) {
        return each(new String[] {column}, "change<" + change);
    }

    /** The same in percent of what was expected: {@code minChangePercent("latency", 20)}. */
    public static String minChangePercent(String column, double percent) {
        return each(new String[] {column}, "change<" + percent + "%");
    }

    /**
     * Throws if a line of a text is not a rule. Columns are not looked for.
     *
     * @throws OifException {@code line()} says which line it is
     */
    public static void check(String text) {
        Native.checkRules(Pipeline.utf8(text));
    }

    private static String each(String[] columns, String condition) {
        StringBuilder text = new StringBuilder();
        for (String column : columns) {
            text.append(text.isEmpty() ? "" : "\n").append("mute column=").append(quoted(column)).append(' ').append(condition);
        }
        return text.toString();
    }

    private static String quoted(String column) {
        String text = column.replaceAll(UNSAFE, "?");
        return text.isEmpty() || text.matches("(?s).*[\\s#].*") ? '"' + text + '"' : text;
    }
}
