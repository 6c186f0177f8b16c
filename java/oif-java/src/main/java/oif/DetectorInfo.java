package oif;

/**
 * A detector of the library.
 *
 * @param name for {@link Params#of}
 * @param summary one line
 * @param paper the source of the method
 * @param cost the time per row, by the parameters and d, the number of columns
 * @param choose when to choose it
 */
public record DetectorInfo(String name, String summary, String paper, String cost, String choose) {
    static DetectorInfo from(byte[][] texts) {
        return new DetectorInfo(
                Pipeline.text(texts[0]),
                Pipeline.text(texts[1]),
                Pipeline.text(texts[2]),
                Pipeline.text(texts[3]),
                Pipeline.text(texts[4]));
    }
}
