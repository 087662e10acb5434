package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.agrona.concurrent.NanoClock;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * A network of datagrams between simulated hosts, with multicast. Datagrams take a random time, and arrive in the order
 * in which a socket sent them to another one. They can be lost, duplicated, and so late that later ones arrive first. A
 * receiving socket without room drops them. A host is known by its address.
 *
 * <p>One thread.
 */
public final class SimulatedDatagrams extends UdpNetwork {
    /** Receives what happens, for the event log and for checks. */
    public interface Log {
        /**
         * Something happened to a datagram, or to one of its copies.
         *
         * @param kind      {@link #SENT}, {@link #ARRIVED}, {@link #RECEIVED}, {@link #DOUBLED},
         *                  {@link #CORRUPTED}, {@link #LOST} or {@link #NO_ROOM}.
         * @param to        address that it was sent to; the receiver's own, for a copy of a multicast.
         * @param firstWord its first 8 bytes, in the byte order of the host; 0 if it is shorter.
         */
        void note(String kind, SocketName from, SocketName to, long firstWord);
    }

    /** Sees the datagrams. */
    public interface Tap {
        /** A datagram leaves its sender. */
        void sent(SocketName from, SocketName to, byte[] bytes);
    }

    public static final String SENT = "datagram";
    /** It has arrived: it waits in the receiver's socket. */
    public static final String ARRIVED = "arrived";
    /** The network has changed a copy, and the sums of UDP are right nevertheless. */
    public static final String CORRUPTED = "corrupted";
    /** A receiver has taken it. */
    public static final String RECEIVED = "taken";
    /** The network has made a further copy. */
    public static final String DOUBLED = "doubled";
    /** It, or a copy, will not be received: lost on its way, no receiver, or a receiver that has ended. */
    public static final String LOST = "lost";
    /** It has arrived, but a receiving socket has no room for it. */
    public static final String NO_ROOM = "no room";

    private static final int FIRST_PORT = 32_768;
    private static final int PORTS = 28_232;
    private static final int PER_MILLE = 1000;
    private static final int MOST_COPIES = 3;
    /** Of the messages of streams: sizes, schema, and the number of a stream, member or reader. */
    private static final int[] NOTICED = {0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    private final NanoClock clock;
    private final SplittableRandom random;
    private final BiPredicate<String, String> isCut;
    private final Log log;
    private final long baseNs;
    private final long spreadNs;
    private final int busyPerMille;
    private final List<SimulatedDatagramPort> ports = new ArrayList<>();
    private int nextPort;
    private long copies;
    private int lostPerMille;
    private int doubledPerMille;
    private int latePerMille;
    private long latestNs;
    private int corruptedPerMille;
    private boolean isSealed;
    /** Null without one. */
    private Tap tap;

    /**
     * A network without hosts, whose delays the seed chooses.
     *
     * @param isCut  whether nothing arrives between two hosts.
     */
    public SimulatedDatagrams(
        NanoClock clock, SplittableRandom random, BiPredicate<String, String> isCut, Log log) {
        this.clock = clock;
        this.random = random;
        this.isCut = isCut;
        this.log = log;
        baseNs = 1_000L << random.nextInt(12);
        spreadNs = 1 + random.nextLong(4 * baseNs);
        busyPerMille = random.nextInt(3) == 0 ? random.nextInt(PER_MILLE / 2) : 0;
    }

    /** The provider of udp links over this network. Returns a provider for any driver. */
    public UdpLinkProvider provider() {
        return new UdpLinkProvider(this);
    }

    /**
     * Sets how often datagrams are mistreated from now on; 0 for never.
     *
     * @param newLostPerMille    of 1,000 datagrams so many are lost.
     * @param newDoubledPerMille so many arrive more than once.
     * @param newLatePerMille    so many arrive behind later ones.
     * @param newLatestNs        how late at most, in nanoseconds; 1 or more.
     */
    public void faults(int newLostPerMille, int newDoubledPerMille, int newLatePerMille, long newLatestNs) {
        lostPerMille = newLostPerMille;
        doubledPerMille = newDoubledPerMille;
        latePerMille = newLatePerMille;
        latestNs = newLatestNs;
    }

    /**
     * Sets how often datagrams of streams are changed from now on, in a way that the sums of UDP do not show: cut, or
     * another byte.
     *
     * @param newCorruptedPerMille of 1,000 datagrams so many are changed.
     * @param newIsSealed          whether anything may be changed, because they are sealed; else only what has to be
     *                             noticed.
     */
    public void corrupt(int newCorruptedPerMille, boolean newIsSealed) {
        corruptedPerMille = newCorruptedPerMille;
        isSealed = newIsSealed;
    }

    /** Shows all datagrams that are sent. */
    public void tap(Tap newTap) {
        tap = newTap;
    }

    /**
     * The process of a host has ended: its sockets close, and what waits in them is lost.
     *
     * @param host address without port.
     */
    public void kill(String host) {
        for (SimulatedDatagramPort port : List.copyOf(ports)) {
            if (port.host().equals(host)) {
                port.close();
            }
        }
    }

    /**
     * Open sockets of a host, for the check that none is left.
     *
     * @param host address without port.
     */
    public int openSockets(String host) {
        return (int) ports.stream().filter(port -> port.host().equals(host)).count();
    }

    /** When a datagram arrives next. Returns a time later than now, {@link Long#MAX_VALUE} for never. */
    public long nextEventNs() {
        long nowNs = nowNs();
        long next = Long.MAX_VALUE;
        for (int i = 0; i < ports.size(); i++) {
            ports.get(i).update(nowNs);
            next = Math.min(next, ports.get(i).nextNs());
        }
        return next <= nowNs ? nowNs + 1 : next;
    }

    /**
     * Whether a datagram waits that its driver has not had enough polls to take. A driver without posted receives
     * leaves datagrams in the socket; then time passes nevertheless.
     *
     * @param isRunning whether the driver of a host notices anything.
     * @return false if time can pass until {@link #nextEventNs()}.
     */
    public boolean hasEvents(Predicate<String> isRunning) {
        long nowNs = nowNs();
        for (int i = 0; i < ports.size(); i++) {
            SimulatedDatagramPort port = ports.get(i);
            port.update(nowNs);
            if (isRunning.test(port.host()) && port.mayStillPoll()) {
                return true;
            }
        }
        return false;
    }

    /** Describes all sockets, for failures. */
    public List<String> describe() {
        return ports.stream().map(SimulatedDatagramPort::toString).toList();
    }

    // ---- calls of the link ----

    @Override
    UdpPort open(SocketName wanted, InetAddress local, boolean shared, DriverConfig config) {
        SocketName name = wanted;
        while (name.port() == 0 || wanted.port() == 0 && find(name) != null) {
            name = wanted.withPort(FIRST_PORT + nextPort++ % PORTS);
        }
        SimulatedDatagramPort taken = find(name);
        if (taken != null && !(shared && taken.isShared())) {
            throw new FabricException(FabricErrno.EADDRINUSE, "cannot bind " + wanted, "Name another address.");
        }
        SimulatedDatagramPort port = new SimulatedDatagramPort(this, name, local, shared, config);
        ports.add(port);
        return port;
    }

    // ---- calls of sockets ----

    long nowNs() {
        return clock.nanoTime();
    }

    /** Whether the system has no room for a datagram to be sent now. */
    boolean isBusy() {
        return random.nextInt(PER_MILLE) < busyPerMille;
    }

    void forget(SimulatedDatagramPort port) {
        ports.remove(port);
    }

    void note(String kind, SocketName from, SocketName to, byte[] bytes) {
        log.note(kind, from, to, firstWord(bytes));
    }

    /** A datagram leaves its sender. */
    void send(SimulatedDatagramPort from, SocketName to, byte[] bytes) {
        note(SENT, from.name(), to, bytes);
        if (tap != null) {
            tap.sent(from.name(), to, bytes);
        }
        boolean isGroup = to.inetAddress().isMulticastAddress();
        boolean isTaken = false;
        for (int i = 0; i < ports.size(); i++) {
            SimulatedDatagramPort port = ports.get(i);
            if (port.name().equals(to)) {
                isTaken = true;
                copy(from, port, bytes);
                if (!isGroup) {
                    return;
                }
            }
        }
        if (!isTaken) {
            note(LOST, from.name(), to, bytes);
        }
    }

    private void copy(SimulatedDatagramPort from, SimulatedDatagramPort to, byte[] bytes) {
        SocketName shown = to.shownName();
        if (isCut.test(from.host(), to.host()) || random.nextInt(PER_MILLE) < lostPerMille) {
            note(LOST, from.name(), shown, bytes);
            return;
        }
        int count = random.nextInt(PER_MILLE) < doubledPerMille ? 2 + random.nextInt(MOST_COPIES - 1) : 1;
        for (int i = 0; i < count; i++) {
            if (i > 0) {
                note(DOUBLED, from.name(), shown, bytes);
            }
            long timeNs = nowNs() + baseNs + random.nextLong(spreadNs);
            boolean isLate = i > 0 || random.nextInt(PER_MILLE) < latePerMille;
            byte[] copy = bytes;
            if (corruptedPerMille > 0 && random.nextInt(PER_MILLE) < corruptedPerMille) {
                note(CORRUPTED, from.name(), shown, bytes);
                copy = corrupted(bytes);
            }
            to.add(from, copy, isLate && latestNs > 0 ? timeNs + random.nextLong(latestNs) : timeNs, isLate, copies++);
        }
    }

    private byte[] corrupted(byte[] bytes) {
        if (random.nextInt(4) == 0) {
            return Arrays.copyOf(bytes, random.nextInt(bytes.length));
        }
        byte[] copy = bytes.clone();
        int at = isSealed ? random.nextInt(copy.length) : NOTICED[random.nextInt(NOTICED.length)];
        copy[at] ^= (byte) (1 + random.nextInt(255));
        return copy;
    }

    private SimulatedDatagramPort find(SocketName name) {
        for (SimulatedDatagramPort port : ports) {
            if (port.name().equals(name)) {
                return port;
            }
        }
        return null;
    }

    private static long firstWord(byte[] bytes) {
        return bytes.length < Long.BYTES ? 0 : SimulatedDatagramPort.word(bytes);
    }
}
