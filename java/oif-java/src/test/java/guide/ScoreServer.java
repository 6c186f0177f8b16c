package guide;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import oif.OifException;
import oif.Params;
import oif.Pipeline;
import oif.Result;

/** The server of docs/java.md. It needs the JDK and oif-java, nothing else. */
public final class ScoreServer implements AutoCloseable {
    private static final int MOST_BYTES = 1 << 20;

    private final Pipeline pipeline =
            new Pipeline(Params.of("rolling-iforest"), 2, Params.options().set("max_keys", 10_000));
    private final ExecutorService threads = Executors.newFixedThreadPool(4);
    private final HttpServer server;

    ScoreServer(int port) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    /** Rows for a key, one per line: {@code curl --data-binary @rows.csv http://127.0.0.1:8080/pump-1} */
    public static void main(String[] arguments) throws IOException {
        new ScoreServer(8080);
    }

    private String score(String key, String text) {
        double[] row = Stream.of(text.split(",")).mapToDouble(Double::parseDouble).toArray();
        synchronized (pipeline) { // explain() is about the last row, so no other thread may process one in between
            Result result = pipeline.process(key, row);
            return result.score() + (result.anomaly() ? " " + result.grade() + " " + pipeline.explain() : "");
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String key = exchange.getRequestURI().getPath().substring(1);
            byte[] body = exchange.getRequestBody().readNBytes(MOST_BYTES + 1);
            if (body.length > MOST_BYTES) {
                send(exchange, 413, "more than " + MOST_BYTES + " bytes");
                return;
            }
            StringBuilder scores = new StringBuilder();
            try {
                new String(body, StandardCharsets.UTF_8).lines().forEach(row -> scores.append(score(key, row)).append('\n'));
                send(exchange, 200, scores.toString());
            } catch (IllegalArgumentException | OifException refused) { // the rows before it are processed
                send(exchange, 400, scores + refused.getMessage());
            }
        }
    }

    private static void send(HttpExchange exchange, int status, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    int port() {
        return server.getAddress().getPort();
    }

    /** No request may be under way when the pipeline is closed; one that is gets an exception, not a crash. */
    @Override
    public void close() {
        server.stop(0);
        threads.shutdown();
        pipeline.close();
    }
}
