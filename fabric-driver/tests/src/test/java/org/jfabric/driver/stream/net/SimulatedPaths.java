package org.jfabric.driver.stream.net;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.jfabric.info.SocketName;

/** A network of datagrams with unicast and multicast that loses, doubles and delays them. One thread. */
final class SimulatedPaths {
    static final int DATAGRAM_BYTES = 1408;
    static final long SILENCE_NS = 5_000_000_000L;
    private static final long BASE = BufferUtil.ARRAY_BASE_OFFSET;

    /** Decides of a datagram whether it is lost. */
    interface Loss {
        boolean isLost(Port from, Port to, byte[] bytes);
    }

    private record Flight(long timeNs, long number, Port from, Port to, byte[] bytes) {
    }

    final SplittableRandom random;
    long nowNs;
    long delayNs = 100_000;
    long jitterNs;
    int lostPerMille;
    int doubledPerMille;
    int latePerMille;
    int busyPerMille;
    /** What comes to a socket with this port takes longer. */
    int slowPort;
    long slowNs;
    /** What a socket receives at most; 0 for no limit. */
    long bytesPerSecond;
    /** That wait at that limit at most; what comes then is lost. */
    long queueBytes;
    Loss loss = (from, to, bytes) -> false;
    final Set<String> cuts = new HashSet<>();
    long sentBytes;
    private long number;
    private final Map<Long, List<Port>> ports = new HashMap<>();
    private final PriorityQueue<Flight> flights =
        new PriorityQueue<>(Comparator.comparingLong(Flight::timeNs).thenComparingLong(Flight::number));

    SimulatedPaths(SplittableRandom random) {
        this.random = random;
    }

    static SocketName name(String host, int port) {
        return SocketName.parse(SocketName.IN_SCHEME + host + ':' + port);
    }

    private static long key(SocketName name) {
        byte[] bytes = name.toBytes();
        return UnsafeApi.getLong(bytes, BASE);
    }

    Port open(String host, int port) {
        Port opened = new Port(host, name(host, port));
        ports.computeIfAbsent(key(opened.name), k -> new ArrayList<>()).add(opened);
        return opened;
    }

    void joinGroup(Port port, SocketName group) {
        ports.computeIfAbsent(key(group), k -> new ArrayList<>()).add(port);
    }

    void close(Port port) {
        ports.values().forEach(each -> each.remove(port));
        port.isClosed = true;
    }

    /** Time of the next arrival; the end of time if there is none. */
    long nextNs() {
        return flights.isEmpty() ? Long.MAX_VALUE : flights.peek().timeNs;
    }

    void advance(long toNs) {
        nowNs = Math.max(nowNs, toNs);
        while (!flights.isEmpty() && flights.peek().timeNs <= nowNs) {
            Flight flight = flights.poll();
            if (!flight.to.isClosed) {
                flight.to.arrived.add(flight);
            }
        }
    }

    private void send(Port from, byte[] bytes, long to) {
        sentBytes += bytes.length;
        for (Port port : ports.getOrDefault(to, List.of())) {
            if (isCut(from.host, port.host) || random.nextInt(1000) < lostPerMille
                || loss.isLost(from, port, bytes)) {
                continue;
            }
            int copies = random.nextInt(1000) < doubledPerMille ? 2 : 1;
            for (int i = 0; i < copies; i++) {
                long queuedNs = bytesPerSecond == 0 ? 0 : port.queue(bytes.length);
                if (queuedNs < 0) {
                    continue;
                }
                long time = nowNs + queuedNs + delayNs + (port.name.port() == slowPort ? slowNs : 0)
                    + (jitterNs == 0 ? 0 : random.nextLong(jitterNs));
                if (random.nextInt(1000) < latePerMille) {
                    time += random.nextLong(4 * delayNs);
                } else {
                    time = Math.max(time, port.lastNs.getOrDefault(from.name, 0L));
                    port.lastNs.put(from.name, time);
                }
                flights.add(new Flight(time, number++, from, port, bytes));
            }
        }
    }

    private boolean isCut(String one, String other) {
        return cuts.contains(one + ' ' + other) || cuts.contains(other + ' ' + one);
    }

    /** A socket. */
    final class Port extends StreamSocket {
        final String host;
        final SocketName name;
        int maxBytes = DATAGRAM_BYTES;
        private final long memory = UnsafeApi.allocateMemory(2 * 65536 + 64);
        private final long peer = memory + 2 * 65536;
        private final ArrayDeque<Flight> arrived = new ArrayDeque<>();
        private final Map<SocketName, Long> lastNs = new HashMap<>();
        private byte[] last;
        /** When the queue in front of it is empty. */
        private long freeNs;
        private boolean isClosed;

        Port(String host, SocketName name) {
            this.host = host;
            this.name = name;
        }

        /** Time until a datagram has passed the queue; negative if it does not get into it. */
        private long queue(int lengthBytes) {
            freeNs = Math.max(freeNs, nowNs);
            if ((freeNs - nowNs) * bytesPerSecond / 1_000_000_000 > queueBytes) {
                return -1;
            }
            freeNs += lengthBytes * 1_000_000_000L / bytesPerSecond;
            return freeNs - nowNs;
        }

        @Override
        public int maxDatagramBytes() {
            return maxBytes;
        }

        @Override
        public long claim() {
            return random.nextInt(1000) < busyPerMille ? 0 : memory;
        }

        @Override
        public void send(int lengthBytes, long to, int nameLength) {
            last = new byte[lengthBytes];
            UnsafeApi.copyMemory(null, memory, last, BASE, lengthBytes);
            repeat(to, nameLength);
        }

        @Override
        public void repeat(long to, int nameLength) {
            if (!isClosed) {
                SimulatedPaths.this.send(this, last, UnsafeApi.getLong(to));
            }
        }

        /** Sends bytes that a test has made. */
        void send(byte[] bytes, SocketName to) {
            SimulatedPaths.this.send(this, bytes, key(to));
        }

        @Override
        public void flush() {
            // nothing is collected
        }

        @Override
        public int receive() {
            Flight flight = arrived.poll();
            if (flight == null) {
                return -1;
            }
            UnsafeApi.copyMemory(flight.bytes, BASE, null, address(), flight.bytes.length);
            byte[] sender = flight.from.name.toBytes();
            UnsafeApi.copyMemory(sender, BASE, null, peer, sender.length);
            return flight.bytes.length;
        }

        /** The bytes of the next datagram, for tests that are a peer; null if there is none. */
        byte[] take() {
            Flight flight = arrived.poll();
            return flight == null ? null : flight.bytes;
        }

        @Override
        public long address() {
            return memory + 65536;
        }

        @Override
        public long name() {
            return peer;
        }

        @Override
        public int nameLength() {
            return SocketName.IN_LENGTH;
        }

        @Override
        public boolean arm() {
            return arrived.isEmpty();
        }

        @Override
        public void close() {
            SimulatedPaths.this.close(this);
        }
    }
}
