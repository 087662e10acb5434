package org.jfabric.driver.stream.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import org.jfabric.driver.kit.Effort;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.GroupRingDescriptor;
import org.junit.jupiter.api.Test;

/**
 * A writer and up to four reading hosts over a network with all faults, compared with a list: every reader gets each
 * message once, in order, and gaps only where the policy allows them. Hosts are killed and join again, clocks jump,
 * paths are cut.
 */
class StreamModelTest {
    private static final int SEEDS = Effort.rounds(150, 5_000);

    @Test
    void shouldDeliverEachMessageOnceWhateverTheNetworkDoes() {
        for (int i = 0; i < SEEDS; i++) {
            run(Integer.getInteger("jfabric.test.streamSeed", 0) + i);
        }
    }

    private static void run(long seed) {
        World world = new World(seed);
        try {
            world.run();
        } catch (AssertionError | RuntimeException e) {
            throw new AssertionError("seed " + seed + ": " + e.getMessage() + "\n" + world, e);
        }
    }

    /** A host with its driver. */
    private static final class Host {
        final String address;
        StreamNet net;
        long clockNs;
        long sleepsUntilNs;
        final List<SimulatedPaths.Port> ports = new ArrayList<>();

        Host(String address) {
            this.address = address;
        }
    }

    private static final class World {
        private static final int PORT = 4100;
        private static final int MAX_RING = 1 << 16;

        final SplittableRandom random;
        final SimulatedPaths network;
        final Map<UUID, ListSource> sources = new HashMap<>();
        final List<ListSink> ended = new ArrayList<>();
        final int paths;
        final boolean isMulticast;
        final int ringBytes;
        final StreamPolicy policy;
        final Host writerHost = new Host("10.0.0.1");
        final Host[] hosts;
        final ListSink[] sinks;
        final StreamReader[] readers;
        ListSource source;
        StreamWriter writer;
        int wanted;
        int joins;
        boolean isCalm;

        World(long seed) {
            random = new SplittableRandom(seed);
            network = new SimulatedPaths(random.split());
            paths = random.nextInt(3) == 0 ? 2 : 1;
            isMulticast = random.nextInt(3) == 0;
            ringBytes = GroupRingDescriptor.MIN_CAPACITY << random.nextInt(5);
            hosts = new Host[1 + random.nextInt(4)];
            sinks = new ListSink[hosts.length];
            readers = new StreamReader[hosts.length];
            policy = policy();
            network.delayNs = 1_000L << random.nextInt(14);
            network.jitterNs = random.nextBoolean() ? 0 : random.nextLong(2 * network.delayNs) + 1;
            wanted = 200 + random.nextInt(800);
        }

        private StreamPolicy policy() {
            StreamPolicy chosen = switch (random.nextInt(5)) {
                case 0 -> StreamPolicy.lossy();
                case 1 -> StreamPolicy.quorum(1 + random.nextInt(hosts.length));
                case 2 -> StreamPolicy.required(List.of("reader0"));
                default -> StreamPolicy.reliable();
            };
            chosen = random.nextInt(4) == 0 ? chosen.withStallTimeout(50_000_000) : chosen;
            return random.nextInt(4) == 0 ? chosen.withRate(4_000_000) : chosen;
        }

        private void faults() {
            network.lostPerMille = random.nextBoolean() ? 0 : random.nextInt(random.nextBoolean() ? 20 : 300);
            network.doubledPerMille = random.nextBoolean() ? 0 : random.nextInt(200);
            network.latePerMille = random.nextBoolean() ? 0 : random.nextInt(200);
            network.busyPerMille = random.nextInt(3) == 0 ? random.nextInt(300) : 0;
        }

        private void open(Host host) {
            host.ports.forEach(network::close);
            host.ports.clear();
            host.clockNs = random.nextLong(1L << 40);
            host.net = new StreamNet(random::nextLong, SimulatedPaths.SILENCE_NS, host.clockNs);
        }

        private List<StreamPath> ways(Host host, boolean isWriter) {
            List<StreamPath> ways = new ArrayList<>();
            for (int i = 0; i < paths; i++) {
                SimulatedPaths.Port port = network.open(host.address, PORT + i);
                // each path has datagrams of its own length; the writer's are never longer
                port.maxBytes = isWriter ? 512 + 8 * (ringBytes % 7 + i * 20) : SimulatedPaths.DATAGRAM_BYTES;
                host.ports.add(port);
                if (isMulticast) {
                    network.joinGroup(port, SimulatedPaths.name("239.0.0.1", PORT + i));
                }
                ways.add(new StreamPath(host.net.open(port), isWriter
                    ? isMulticast ? SimulatedPaths.name("239.0.0.1", PORT + i) : null
                    : SimulatedPaths.name(isMulticast ? "239.0.0.1" : writerHost.address, PORT + i)));
            }
            return ways;
        }

        private void openWriter() {
            open(writerHost);
            source = new ListSource(
                new UUID(random.nextLong(), random.nextLong()), 1, random.nextInt(3) == 0 ? 1000 : 0, ringBytes);
            sources.put(source.first.logId(), source);
            writer = writerHost.net.publish("quotes", source, policy, ways(writerHost, true));
            source.writer = writer;
        }

        private void join(int index) {
            Host host = hosts[index];
            open(host);
            LogPosition from = null;
            ListSink old = sinks[index];
            if (old != null) {
                ended.add(old);
                boolean canContinue = old.start != null && old.errno != FabricErrno.ENODATA
                    && old.errno != FabricErrno.EINVAL && random.nextBoolean();
                from = canContinue ? old.start.at(old.next) : null;
            }
            sinks[index] = new ListSink("reader" + index, sources);
            readers[index] = host.net.subscribe("quotes", "reader" + index, from, sinks[index], ways(host, false));
            joins++;
        }

        void run() {
            openWriter();
            for (int i = 0; i < hosts.length; i++) {
                hosts[i] = new Host("10.0.1." + i);
                join(i);
            }
            faults();
            int kills = random.nextInt(3);
            for (int step = 0; step < 6_000 && wanted > 0; step++) {
                advance(0);
                disturb(step, kills);
                offer();
            }
            calm();
        }

        private void disturb(int step, int kills) {
            if (random.nextInt(400) == 0) {
                faults();
            }
            if (random.nextInt(500) == 0) {
                network.cuts.add(writerHost.address + ' ' + hosts[random.nextInt(hosts.length)].address);
            }
            if (random.nextInt(200) == 0) {
                network.cuts.clear();
            }
            if (kills > 0 && random.nextInt(1500) == 0) {
                join(random.nextInt(hosts.length));
            }
            if (kills > 1 && random.nextInt(4000) == 0) {
                openWriter();
            }
            if (random.nextInt(500) == 0) {
                Host host = random.nextBoolean() ? writerHost : hosts[random.nextInt(hosts.length)];
                host.clockNs += random.nextLong(10_000_000_000L);
                host.sleepsUntilNs = network.nowNs + random.nextLong(20 * network.delayNs);
            }
        }

        private void offer() {
            for (int i = random.nextInt(6); i > 0 && wanted > 0; i--) {
                int most = GroupRingDescriptor.maxPayload(ringBytes);
                byte[] payload = new byte[random.nextInt(random.nextInt(10) == 0 ? most + 1 : Math.min(most, 200))];
                random.nextBytes(payload);
                int flags = random.nextInt(4);
                if (!source.offer(new ListSource.Message(flags, (flags & GroupRingDescriptor.TAGGED) != 0
                    ? random.nextLong() : 0, (flags & GroupRingDescriptor.HAS_DATA) != 0 ? random.nextLong() : 0,
                    payload))) {
                    return;
                }
                wanted--;
            }
        }

        /** Lets time pass, and everybody step. */
        private void advance(long idleNs) {
            long elapsedNs = idleNs + 1 + random.nextLong(Math.max(2, network.delayNs / (1 + random.nextInt(8))));
            network.advance(network.nowNs + elapsedNs);
            step(writerHost, elapsedNs);
            for (int i = 0; i < hosts.length; i++) {
                step(hosts[i], elapsedNs);
                if (random.nextInt(4) == 0 || isCalm) {
                    sinks[i].consume(random.nextInt(50));
                }
                boolean isNew = sinks[i].isOver() && (!isCalm || sinks[i].errno != FabricErrno.ESHUTDOWN);
                if (isNew && !writer.isDrained()) {
                    join(i);
                }
            }
        }

        private void step(Host host, long elapsedNs) {
            host.clockNs += elapsedNs;
            if (network.nowNs >= host.sleepsUntilNs) {
                host.net.step(host.clockNs);
            }
        }

        /** No further faults: everybody gets everything, and the writer may go. */
        private void calm() {
            network.cuts.clear();
            network.lostPerMille = 0;
            network.doubledPerMille = 0;
            network.latePerMille = 0;
            network.busyPerMille = 0;
            isCalm = true;
            await("all joined", () -> joined() == hosts.length);
            for (int i = 0; i < 5; i++) {
                source.offer(new ListSource.Message(0, 0, 0, new byte[100]));
            }
            // a reader that has joined before this has to get everything up to here
            await("all received", () -> {
                for (ListSink sink : sinks) {
                    if (sink.start == null || sink.next < source.next()) {
                        return false;
                    }
                }
                return true;
            });
            writer.close(FabricErrno.ESHUTDOWN);
            await("drained", writer::isDrained);
            for (ListSink sink : sinks) {
                if (sink.start == null && policy.stallTimeoutNs() != 0) {
                    // it was removed while the writer ended, and there is no writer to join again
                    continue;
                }
                assertEquals(FabricErrno.ESHUTDOWN, sink.errno, sink::toString);
                assertEquals(source.next(), sink.next, sink::toString);
                ended.add(sink);
            }
            writer.release();
            check();
        }

        private int joined() {
            int joined = 0;
            for (ListSink sink : sinks) {
                joined += sink.start != null && !sink.isOver() && sink.start.logId().equals(source.first.logId()) ? 1
                    : 0;
            }
            return joined;
        }

        private void await(String what, java.util.function.BooleanSupplier condition) {
            long end = network.nowNs + 30_000_000_000L;
            for (int steps = 0; !condition.getAsBoolean(); steps++) {
                if (network.nowNs > end || steps > 2_000_000) {
                    fail("not " + what + " after " + steps + " steps");
                }
                // time passes faster where nothing happens
                advance(steps > 1000 ? Math.clamp(network.nextNs() - network.nowNs, 1, 1_000_000) : 0);
            }
        }

        private void check() {
            for (ListSink sink : ended) {
                boolean mayLose = policy.waits() == StreamPolicy.Waits.NONE
                    || policy.waits() == StreamPolicy.Waits.QUORUM
                    || policy.waits() == StreamPolicy.Waits.REQUIRED && !sink.name.equals("reader0");
                assertTrue(mayLose || sink.gaps == 0, () -> "lost of " + sink);
                assertTrue(sink.notices.isEmpty() || sink.errno == FabricErrno.EINVAL || sources.size() > 1,
                    () -> "notice " + sink.notices);
            }
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder();
            text.append(paths).append(isMulticast ? " multicast" : " unicast").append(" paths, ring ")
                .append(ringBytes).append(", ").append(policy).append(", delay ").append(network.delayNs)
                .append(", jitter ").append(network.jitterNs).append(", lost ").append(network.lostPerMille)
                .append(", joins ").append(joins).append(", still ").append(wanted).append('\n');
            text.append("writer: next ").append(source.next()).append(" oldest ").append(source.oldest())
                .append(" needed ").append(writer.needed()).append(' ').append(source.events).append('\n');
            writer.readers().forEach(reader -> text.append("  ").append(reader).append('\n'));
            for (int i = 0; i < hosts.length; i++) {
                text.append(sinks[i]).append(sinks[i].notices).append('\n').append("  ").append(readers[i])
                    .append('\n');
            }
            return text.toString();
        }
    }
}
