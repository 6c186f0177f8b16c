package oif;

/**
 * The names of the columns that keys and times come from.
 *
 * @param key several columns are one text, such as "host,disk"; null if there are no keys
 * @param time null if there are no times
 */
public record Roles(String key, String time) {
    static final Roles NONE = new Roles(null, null);

    static Roles from(byte[][] texts) {
        return new Roles(
                texts[0] == null ? null : Pipeline.text(texts[0]), texts[1] == null ? null : Pipeline.text(texts[1]));
    }
}
