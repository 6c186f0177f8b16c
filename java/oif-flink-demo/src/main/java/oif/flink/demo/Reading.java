package oif.flink.demo;

/** What a pump reports. A POJO, as Flink's serializers want it. */
public class Reading {
    public long row;
    public String pump;
    public double time;
    public double flow;
    public double pressure;
    public double temperature;

    public Reading() {}

    Reading(long row, String pump, double time, double flow, double pressure, double temperature) {
        this.row = row;
        this.pump = pump;
        this.time = time;
        this.flow = flow;
        this.pressure = pressure;
        this.temperature = temperature;
    }

    @Override
    public String toString() {
        return pump + " row=" + row + " flow=" + flow + " pressure=" + pressure;
    }
}
