package oif.kafka;

import oif.flink.demo.Reading;

/** Parses the records of the topics: lines of CSV with row,pump,time,flow,pressure,temperature. */
final class Lines {
    private Lines() {}

    static Reading reading(String line) {
        String[] fields = line.split(",");
        Reading r = new Reading();
        r.row = Long.parseLong(fields[0]);
        r.pump = fields[1];
        r.time = Double.parseDouble(fields[2]);
        r.flow = Double.parseDouble(fields[3]);
        r.pressure = Double.parseDouble(fields[4]);
        r.temperature = Double.parseDouble(fields[5]);
        return r;
    }
}
