package oif;

import static org.junit.jupiter.api.Assertions.*;

import java.util.List;
import org.junit.jupiter.api.Test;

class IncidentsTest {
    private static IncidentEvent host(int i) {
        return IncidentEvent.of("rack-1/host-" + i, 1000 + 10 * i).withColumn("load").withSeverity(3 + i).withEpisode(1);
    }

    @Test
    void episodesThatBeginTogetherAreOneIncident() {
        try (Incidents incidents = new Incidents()) {
            assertTrue(incidents.begin(host(0)).isNew());
            for (int i = 1; i < 5; i++) {
                Incident.Place place = incidents.begin(host(i));
                assertEquals(1, place.incident());
                assertTrue(place.joins() && place.peakBefore() == 2 + i, place.toString());
            }
            assertEquals(List.of(1L), incidents.numbers());
            Incident incident = incidents.get(1);
            assertEquals(5, incident.members());
            assertEquals(5, incident.open());
            assertEquals(7, incident.severity());
            assertEquals("rack-1/host-4", incident.worst().key());
            assertEquals("rack-1/host-0", incident.order().get(0).key());
            assertEquals("load", incident.order().get(0).column());
            assertEquals(Double.NaN, incident.order().get(0).endSeconds());
            assertNull(incidents.get(2));
            assertNull(incidents.get(-1));
        }
    }

    @Test
    void whatMembersShareIsKnown() {
        try (Incidents incidents = new Incidents()) {
            for (int i = 0; i < 8; i++) {
                incidents.begin(IncidentEvent.of("rack-2/h" + i, 30 * i).withColumn("c" + i).withReason("too high"));
            }
            assertEquals(List.of(new Incident.Shared(false, "rack-2")), incidents.get(1).shared());
            assertEquals("too high", incidents.get(1).worst().reason());
        }
    }

    @Test
    void anIncidentIsOverWithItsLastEpisode() {
        try (Incidents incidents = new Incidents(Params.incidentOptions().set("window_seconds", 60))) {
            incidents.begin(host(0));
            incidents.begin(host(1));
            assertTrue(incidents.begin(host(200)).isNew());
            assertFalse(incidents.end(IncidentEvent.of("rack-1/host-1", 1015).withEpisode(1)).isOver());
            assertTrue(incidents
                    .end(IncidentEvent.of("rack-1/host-0", 1020).withEpisode(1).withSeverity(9))
                    .isOver());
            assertTrue(incidents.get(1).isOver());
            assertEquals(1020, incidents.get(1).worst().endSeconds());
            assertEquals(9, incidents.get(1).severity());
            assertEquals(List.of(2L), incidents.numbers());
        }
    }

    @Test
    void aSnapshotResumes() {
        try (Incidents incidents = new Incidents()) {
            incidents.begin(host(0));
            try (Incidents loaded = Incidents.load(incidents.save())) {
                assertEquals(incidents.begin(host(1)), loaded.begin(host(1)));
                assertEquals(incidents.get(1), loaded.get(1));
            }
            byte[] cut = java.util.Arrays.copyOf(incidents.save(), 100);
            assertThrows(OifException.class, () -> Incidents.load(cut));
            assertThrows(NullPointerException.class, () -> Incidents.load(null));
        }
        try (Detector detector = new Detector(Params.of("online-iforest"), 1)) {
            assertThrows(OifException.class, () -> Incidents.load(detector.save()));
        }
    }

    @Test
    void badEventsAreRefused() {
        Incidents incidents = new Incidents();
        assertThrows(OifException.class, () -> incidents.begin(IncidentEvent.of("k", Double.POSITIVE_INFINITY)));
        assertThrows(OifException.class, () -> incidents.begin(IncidentEvent.of("k".repeat(70000), 0)));
        assertThrows(IllegalArgumentException.class, () -> incidents.begin(host(0).withColumn("a\0b")));
        assertThrows(NullPointerException.class, () -> incidents.begin(host(0).withStream(null)));
        assertThrows(NullPointerException.class, () -> incidents.begin(IncidentEvent.of(null, 0)));
        assertThrows(OifException.class, () -> Params.incidentOptions().set("no_such_option", 1));
        assertEquals(List.of(), incidents.numbers());
        incidents.close();
        incidents.close();
        assertThrows(IllegalStateException.class, incidents::numbers);
    }
}
