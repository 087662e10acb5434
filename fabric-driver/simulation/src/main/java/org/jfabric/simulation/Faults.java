package org.jfabric.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** How often which faults occur. */
public final class Faults {
    private record Rate(double perSecond, long longestNs) {
    }

    private final Map<Fault.Kind, Rate> rates = new EnumMap<>(Fault.Kind.class);

    public Faults() {
    }

    /**
     * Sets how often a kind of faults occurs.
     *
     * @param perSecond mean number in a second of virtual time, 0 for none.
     * @param longestNs how long one lasts at most, in nanoseconds of virtual time; 1 or more.
     */
    public Faults add(Fault.Kind kind, double perSecond, long longestNs) {
        if (perSecond < 0 || longestNs < 1) {
            throw new IllegalArgumentException(perSecond + " faults in a second for up to " + longestNs + " ns");
        }
        rates.put(kind, new Rate(perSecond, longestNs));
        return this;
    }

    public List<Fault> draw(long seed, int nodes, long durationNs) {
        List<Fault> faults = new ArrayList<>();
        for (Map.Entry<Fault.Kind, Rate> entry : rates.entrySet()) {
            SplittableRandom random = new SplittableRandom(seed * 31 + entry.getKey().ordinal());
            Rate rate = entry.getValue();
            double timeNs = 0;
            while (rate.perSecond > 0) {
                timeNs -= Math.log(1 - random.nextDouble()) / rate.perSecond * 1e9;
                if (timeNs >= durationNs) {
                    break;
                }
                int node = random.nextInt(nodes);
                int other = nodes == 1 ? node : (node + 1 + random.nextInt(nodes - 1)) % nodes;
                faults.add(new Fault((long) timeNs, entry.getKey(), node, other, 1 + random.nextLong(rate.longestNs)));
            }
        }
        faults.sort(Comparator.comparingLong(Fault::timeNs));
        return faults;
    }
}
