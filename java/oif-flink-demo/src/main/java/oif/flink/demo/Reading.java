package oif.flink.demo;

/** A reading of a pump. A POJO for Flink's serializers. */
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

    /** The numbers that a model learns. */
    public double[] numbers() {
        return new double[] {flow, pressure, temperature};
    }

    /** The line of output that the tests read. */
    public String result(double score, double threshold, boolean anomaly) {
        return row + "," + score + "," + threshold + "," + (anomaly ? 1 : 0);
    }

    @Override
    public String toString() {
        return pump + " row=" + row + " flow=" + flow + " pressure=" + pressure;
    }
}
