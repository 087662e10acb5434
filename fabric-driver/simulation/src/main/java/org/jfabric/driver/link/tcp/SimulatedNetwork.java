package org.jfabric.driver.link.tcp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.agrona.concurrent.NanoClock;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * A TCP network between simulated hosts. Bytes take a random time and arrive in random pieces; connections can be
 * reset, hosts separated. A host is known by its address, and has one driver.
 *
 * <p>One thread.
 */
public final class SimulatedNetwork extends TcpNetwork {
    /** Receives what happens, for the event log. */
    public interface Log {
        /**
         * Something happened to a connection.
         *
         * @param to     text of the other end's address.
         * @param amount bytes or an errno.
         */
        void note(String kind, SocketName from, SocketName to, long amount);
    }

    /** Calls of sockets that can fail. */
    public enum Call {
        /** To make a socket that connects or listens. */
        OPEN,
        /** To accept a connection. */
        ACCEPT,
        /** To send. */
        SEND,
        RECEIVE
    }

    /** Has calls fail. */
    public interface CallFaults {
        /** A call is made. Returns 0 if it does what it should, else a positive errno that it answers instead. */
        int errno(String host, Call call);
    }

    private static final int FIRST_FD = 1_000_000;
    private static final int FIRST_PORT = 32_768;
    private static final int PORTS = 28_232;
    private static final long REPEAT_NS = 1_000_000_000L;

    private final NanoClock clock;
    private final SplittableRandom random;
    private final Log log;
    private final int windowBytes;
    private final long baseNs;
    private final long spreadNs;
    private final int wholePerMille;
    private final Map<Integer, SimulatedPort> ports = new LinkedHashMap<>();
    private final Map<Integer, SimulatedListener> listeners = new LinkedHashMap<>();
    private final List<SimulatedSet> sets = new ArrayList<>();
    private final Set<String> cuts = new LinkedHashSet<>();
    private CallFaults callFaults = (host, call) -> 0;
    private int nextFd = FIRST_FD;
    private int nextPort;

    /** A network without hosts, whose properties the seed chooses. */
    public SimulatedNetwork(NanoClock clock, SplittableRandom random, Log log) {
        this.clock = clock;
        this.random = random;
        this.log = log;
        windowBytes = 1 << 14 + random.nextInt(6);
        baseNs = 1_000L << random.nextInt(12);
        spreadNs = 1 + random.nextLong(4 * baseNs);
        wholePerMille = 500 + random.nextInt(500);
    }

    /** The provider of tcp links over this network. Returns a provider for any driver. */
    public TcpLinkProvider provider() {
        return new TcpLinkProvider(this);
    }

    /**
     * Separates two hosts: nothing arrives until {@link #heal}.
     *
     * @param a address without port.
     */
    public void cut(String a, String b) {
        if (cuts.add(pair(a, b))) {
            long nowNs = nowNs();
            for (SimulatedPort port : List.copyOf(ports.values())) {
                if (isBetween(port, a, b)) {
                    port.update(nowNs);
                    port.cut(nowNs);
                }
            }
        }
    }

    /**
     * Reverses {@link #cut}.
     *
     * @param a address without port.
     */
    public void heal(String a, String b) {
        if (cuts.remove(pair(a, b))) {
            long nowNs = nowNs();
            for (SimulatedPort port : List.copyOf(ports.values())) {
                if (isBetween(port, a, b)) {
                    port.heal(nowNs);
                    if (port.isConnecting && port.peer == null && port.answerNs == SimulatedPipe.NEVER) {
                        dial(port, nowNs + random.nextLong(REPEAT_NS));
                    }
                }
            }
        }
    }

    /**
     * Whether two hosts are separated.
     *
     * @param a address without port.
     * @return true between {@link #cut} and {@link #heal}.
     */
    public boolean isCut(String a, String b) {
        return !cuts.isEmpty() && cuts.contains(pair(a, b));
    }

    /**
     * Has calls fail from now on.
     *
     * @param faults asked before each call.
     */
    public void callFaults(CallFaults faults) {
        callFaults = faults;
    }

    /**
     * Resets one connection, if there is one. Returns the addresses of both hosts without port, or null if there was
     * none.
     */
    public String[] resetAny() {
        List<SimulatedPort> open = ports.values().stream().filter(port -> port.peer != null).toList();
        if (!open.isEmpty()) {
            SimulatedPort port = open.get(random.nextInt(open.size()));
            reset(port);
            port.fault(FabricErrno.ECONNRESET, nowNs() + latencyNs());
            return new String[] {hostOf(port.name()), hostOf(port.remote())};
        }
        return null;
    }

    /**
     * The process of a host has ended: its sockets close.
     *
     * @param host address without port.
     */
    public void kill(String host) {
        for (SimulatedListener listener : List.copyOf(listeners.values())) {
            if (host.equals(hostOf(listener.name()))) {
                listener.close();
            }
        }
        for (SimulatedPort port : List.copyOf(ports.values())) {
            if (host.equals(hostOf(port.name()))) {
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
        return (int) (ports.values().stream().filter(port -> host.equals(hostOf(port.name()))).count()
            + listeners.values().stream().filter(listener -> host.equals(hostOf(listener.name()))).count());
    }

    /**
     * When something happens next without anybody's doing. Returns a time later than now, {@link Long#MAX_VALUE} for
     * never.
     */
    public long nextEventNs() {
        long nowNs = nowNs();
        long next = SimulatedPipe.NEVER;
        for (SimulatedPort port : ports.values()) {
            port.update(nowNs);
            next = Math.min(next, port.nextNs(nowNs));
        }
        return next <= nowNs ? nowNs + 1 : next;
    }

    /**
     * Whether an event has occurred that its driver has not noticed yet.
     *
     * @param isRunning whether the driver of a host notices anything.
     * @return false if time can pass until {@link #nextEventNs()}.
     */
    public boolean hasEvents(Predicate<String> isRunning) {
        for (int i = 0; i < sets.size(); i++) {
            SimulatedSet set = sets.get(i);
            if (set.host() != null && isRunning.test(set.host()) && set.isReady()) {
                return true;
            }
        }
        return false;
    }

    /** Describes all sockets, for failures. */
    public List<String> describe() {
        List<String> lines = new ArrayList<>();
        listeners.values().forEach(listener -> lines.add(listener.name() + " listens, waiting " + listener.waiting));
        ports.values().forEach(port -> lines.add(port.toString()));
        return lines;
    }

    // ---- calls of the link ----

    @Override
    TcpListener listen(SocketName wanted, int backlog) {
        SocketName name = wanted.port() != 0 ? wanted : wanted.withPort(freePort(hostOf(wanted)));
        if (find(name) != null) {
            throw new FabricException(FabricErrno.EADDRINUSE, "cannot listen at " + wanted, TcpListener.REMEDY);
        }
        int errno = failure(wanted, Call.OPEN);
        if (errno != 0) {
            throw new FabricException(
                errno, "cannot listen at " + wanted + ": " + FabricErrno.name(errno), TcpListener.REMEDY);
        }
        int fd = nextFd++;
        SimulatedListener listener = new SimulatedListener(
            this, fd, name, 1 + random.nextInt(Integer.MAX_VALUE - 1), backlog);
        listeners.put(fd, listener);
        return listener;
    }

    @Override
    TcpReservation reserve(SocketName wanted) {
        return TcpReservation.of(wanted.port() != 0 ? wanted : wanted.withPort(freePort(hostOf(wanted))));
    }

    @Override
    TcpPort begin(SocketName local, SocketName remote, boolean keepsPort, SocketClass marks) {
        int errno = failure(local, Call.OPEN);
        if (errno != 0) {
            throw new FabricException(errno, "cannot connect " + local + " to " + remote + ": "
                + FabricErrno.name(errno), "Check the address, the routes, and the limit of open files.");
        }
        int number = keepsPort ? local.port() : freePort(hostOf(local));
        SimulatedPort port = new SimulatedPort(this, nextFd++, local.withPort(number), remote);
        port.isConnecting = true;
        port.answerNs = SimulatedPipe.NEVER;
        ports.put(port.fd(), port);
        if (isCut(port)) {
            port.cut(nowNs());
        } else {
            dial(port, nowNs());
        }
        return port;
    }

    @Override
    WatchedSet watch(LinkServices services) {
        SimulatedSet set = new SimulatedSet(this);
        sets.add(set);
        return set;
    }

    /** The request of a connection goes out. */
    private void dial(SimulatedPort port, long timeNs) {
        SimulatedListener listener = find(port.remote());
        long there = timeNs + latencyNs();
        if (listener == null) {
            port.answer = FabricErrno.ECONNREFUSED;
            port.answerNs = there + latencyNs();
            return;
        }
        // a full backlog drops requests, which are repeated
        long taken = listener.isFull() ? there + REPEAT_NS : there;
        SimulatedPort other = new SimulatedPort(this, nextFd++, port.remote(), port.name());
        ports.put(other.fd(), other);
        other.peer = port;
        other.answerNs = taken;
        port.peer = other;
        port.answerNs = taken + latencyNs();
        listener.waiting.add(other);
        note("connect", port, 0);
    }

    // ---- calls of sockets ----

    /** The errno of a call of a socket that fails, 0 if it does not. */
    int failure(SocketName local, Call call) {
        int errno = callFaults.errno(hostOf(local), call);
        if (errno != 0) {
            log.note("fails", local, local, errno);
        }
        return errno;
    }

    long nowNs() {
        return clock.nanoTime();
    }

    int windowBytes() {
        return windowBytes;
    }

    long latencyNs() {
        return baseNs + random.nextLong(spreadNs);
    }

    /** How many of some bytes one call of a socket takes. */
    int piece(int most) {
        return random.nextInt(1000) < wholePerMille ? most : 1 + random.nextInt(most);
    }

    void note(String kind, SimulatedPort port, long amount) {
        log.note(kind, port.name(), port.remote(), amount);
    }

    void forget(SimulatedPort port) {
        ports.values().remove(port);
    }

    void forget(SimulatedSet set) {
        sets.remove(set);
    }

    void forget(SimulatedListener listener) {
        listeners.values().remove(listener);
    }

    /** The other end of a connection notices a reset. */
    void reset(SimulatedPort port) {
        if (port.peer != null) {
            port.peer.fault(FabricErrno.ECONNRESET, port.isCut() ? SimulatedPipe.NEVER : nowNs() + latencyNs());
        }
        note("reset", port, 0);
    }

    /** The connection with a descriptor, or null. */
    SimulatedPort port(int fd) {
        return ports.get(fd);
    }

    /** The listening socket with a descriptor, or null. */
    SimulatedListener listener(int fd) {
        return listeners.get(fd);
    }

    String hostOf(int fd) {
        SimulatedPort port = ports.get(fd);
        return hostOf(port != null ? port.name() : listeners.get(fd).name());
    }

    int random(int bound) {
        return random.nextInt(bound);
    }

    private SimulatedListener find(SocketName name) {
        for (SimulatedListener listener : listeners.values()) {
            if (listener.name().equals(name)) {
                return listener;
            }
        }
        return null;
    }

    private int freePort(String host) {
        for (;;) {
            int port = FIRST_PORT + nextPort++ % PORTS;
            boolean isTaken = listeners.values().stream()
                .anyMatch(each -> each.name().port() == port && host.equals(hostOf(each.name())));
            if (!isTaken) {
                return port;
            }
        }
    }

    private boolean isCut(SimulatedPort port) {
        return isCut(hostOf(port.name()), hostOf(port.remote()));
    }

    private static boolean isBetween(SimulatedPort port, String a, String b) {
        String local = hostOf(port.name());
        String remote = hostOf(port.remote());
        return local.equals(a) && remote.equals(b) || local.equals(b) && remote.equals(a);
    }

    private static String hostOf(SocketName name) {
        return name.inetAddress().getHostAddress();
    }

    private static String pair(String a, String b) {
        return a.compareTo(b) < 0 ? a + ' ' + b : b + ' ' + a;
    }
}
