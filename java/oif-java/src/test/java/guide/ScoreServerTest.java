package guide;

import static org.junit.jupiter.api.Assertions.*;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScoreServerTest {
    private static final int BOUND_MILLISECONDS = 60_000;

    /** The status and the text of an answer. */
    private record Answer(int status, String text) {}

    @SuppressWarnings("deprecation") // the constructor of URL, from Java 20 on
    private static Answer post(ScoreServer server, String path, String body) throws IOException {
        HttpURLConnection call =
                (HttpURLConnection) new URL("http://127.0.0.1:" + server.port() + path).openConnection();
        call.setConnectTimeout(BOUND_MILLISECONDS);
        call.setReadTimeout(BOUND_MILLISECONDS);
        call.setDoOutput(true);
        call.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
        int status = call.getResponseCode();
        try (InputStream answer = status < 400 ? call.getInputStream() : call.getErrorStream()) {
            return new Answer(status, new String(answer.readAllBytes(), StandardCharsets.UTF_8).strip());
        }
    }

    @Test
    void rowsAreScoredAnomaliesExplainedAndBadRowsRefused() throws IOException {
        Random random = new Random(1);
        StringBuilder usual = new StringBuilder();
        for (int i = 0; i < 700; i++) {
            usual.append(60 + random.nextGaussian()).append(',').append(4 + random.nextGaussian()).append('\n');
        }
        try (ScoreServer server = new ScoreServer(0)) {
            assertEquals(700, post(server, "/pump-1", usual.toString()).text().lines().count());
            Answer anomaly = post(server, "/pump-1", "600,4");
            assertTrue(anomaly.status() == 200 && anomaly.text().contains("Attribution"), anomaly.text());
            assertEquals(400, post(server, "/pump-1", "one,2").status());
            assertEquals(400, post(server, "/pump-1", "1,2,3").status());
            assertEquals(400, post(server, "/pump-1", "Infinity,2").status());
            assertEquals(2, post(server, "/pump-2", "1,2\n3").text().lines().count(), "a score, then why");
            assertEquals(413, post(server, "/pump-1", "1".repeat((1 << 20) + 1)).status());
        }
    }
}
