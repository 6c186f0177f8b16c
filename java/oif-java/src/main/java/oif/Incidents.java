package oif;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Joins episodes of several keys of a stream that begin together and share a part of the key, or the
 * column: one message instead of forty. Report each begin and each end of an episode.
 *
 * <pre>{@code
 * try (Incidents incidents = new Incidents()) {
 *     Incident.Place place = incidents.begin(IncidentEvent.of(host, seconds).withColumn("load"));
 *     if (place.isNew()) {
 *         notifyBegin(place.incident());
 *     }
 *     if (incidents.end(IncidentEvent.of(other, seconds)).isOver()) {
 *         notifyEnd();
 *     }
 * }
 * }</pre>
 *
 * <p>Threads that share it take turns.
 */
public final class Incidents implements AutoCloseable {
    private final Handle handle;

    /** Creates an object without incidents, with the default options. */
    public Incidents() {
        this(Params.incidentOptions());
    }

    /** Creates an object without incidents. */
    public Incidents(Params options) {
        this(Native.incidentsNew(options.ofIncidents().names(), options.texts()));
    }

    private Incidents(long address) {
        handle = new Handle(address, Native::incidentsFree);
    }

    /** Loads a snapshot. */
    public static Incidents load(byte[] snapshot) {
        return new Incidents(Native.incidentsLoad(snapshot));
    }

    /** Returns a snapshot. */
    public byte[] save() {
        return handle.ask(Native::incidentsSave);
    }

    // ---- Events ----

    /** Reports that an episode begins. */
    public Incident.Place begin(IncidentEvent event) {
        return report(event, true);
    }

    /** Reports that an episode ends. Stream, key and number say which one. */
    public Incident.Place end(IncidentEvent event) {
        return report(event, false);
    }

    private Incident.Place report(IncidentEvent event, boolean begins) {
        byte[] stream = named(event.stream(), "stream");
        byte[] key = Pipeline.utf8(event.key());
        byte[] column = named(event.column(), "column");
        byte[] reason = named(event.reason(), "reason");
        return Incident.Place.from(handle.ask(address -> Native.incidentsReport(
                address,
                begins,
                stream,
                key,
                column,
                reason,
                event.seconds(),
                event.severity(),
                event.episode())));
    }

    /** A NUL would end the name for the library. */
    private static byte[] named(String name, String what) {
        if (name.indexOf(0) >= 0) {
            throw new IllegalArgumentException("the name of a " + what + " contains NUL");
        }
        return name.getBytes(StandardCharsets.UTF_8);
    }

    // ---- Questions ----

    /** The numbers of the open incidents, the oldest first. */
    public List<Long> numbers() {
        return handle.ask(address -> {
            List<Long> found = new ArrayList<>();
            for (long number; (number = Native.incidentsNumber(address, found.size())) != 0; ) {
                found.add(number);
            }
            return found;
        });
    }

    /** The incident with this number: open, or over since the last event; null if there is none. */
    public Incident get(long number) {
        return handle.ask(address -> incident(address, number));
    }

    private static Incident incident(long address, long number) {
        double[] figures = Native.incidentsInfo(address, number);
        if (figures == null) {
            return null;
        }
        List<Incident.Member> order = new ArrayList<>();
        List<Incident.Shared> shared = new ArrayList<>();
        Native.incidentsMembers(address, number, (texts, n) -> order.add(Incident.Member.from(texts, n)));
        Native.incidentsShared(address, number, (texts, n) -> shared.add(Incident.Shared.from(texts, n)));
        return Incident.from(number, figures, order, shared);
    }

    /**
     * Frees the native memory. Waits for a call of another thread that is under way. Calls that wait, and
     * later ones, throw IllegalStateException; closing twice is allowed.
     */
    @Override
    public void close() {
        handle.close();
    }
}
