package org.jfabric.simulation;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jfabric.driver.link.tcp.SimulatedNetwork;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.ffi.TcpSocket;
import org.jfabric.info.FabricErrno;

/** What is wrong with a node now. */
final class NodeFaults {
    /** One of so many calls fails. */
    private static final int CALLS = 8;
    private static final long CLOCK_FACTOR = 1_000_000;
    private static final long NS_PER_MS = 1_000_000;
    private static final int FAULT_POINTS = 256;
    private static final int LOG_CALLS_PART = 8;
    private static final int[] OPEN_ERRNOS = {
        FabricErrno.EMFILE, TcpSocket.ENFILE, TcpSocket.ENOBUFS, FabricErrno.ENOMEM, FabricErrno.EADDRNOTAVAIL};
    private static final int[] ACCEPT_ERRNOS = {
        FabricErrno.EMFILE, TcpSocket.ENFILE, TcpSocket.ENOBUFS, FabricErrno.ENOMEM, FabricErrno.ECONNABORTED,
        FabricErrno.EPERM};
    private static final int[] SEND_ERRNOS = {
        FabricErrno.EAGAIN, FabricErrno.EINTR, TcpSocket.ENOBUFS, FabricErrno.ENOMEM};
    private static final int[] RECEIVE_ERRNOS = {FabricErrno.EAGAIN, FabricErrno.EINTR, FabricErrno.ENOMEM};
    /** The faults of the node whose driver the thread runs. */
    private static final ThreadLocal<NodeFaults> INSIDE = new ThreadLocal<>();
    /** Nodes whose next accesses fail, of all threads. */
    private static int armed;

    private final Simulation simulation;
    private final SplittableRandom random;
    private final NodeDisk disk;
    private final Map<Fault.Kind, Long> endsNs = new EnumMap<>(Fault.Kind.class);
    private long clockJumpMs;
    /** Accesses that succeed before the next one that fails; -1 if none will fail. */
    private long goodAccesses = -1;
    private boolean hasFailedAccess;

    NodeFaults(Simulation simulation, long seed) {
        this.simulation = simulation;
        this.random = new SplittableRandom(seed);
        this.disk = new NodeDisk(new SplittableRandom(~seed), () -> has(Fault.Kind.DISK));
    }

    /** The files of the logs that the node writes. */
    NodeDisk disk() {
        return disk;
    }

    void begin(Fault fault) {
        switch (fault.kind()) {
            case CLOCK -> clockJumpMs += fault.durationNs() * CLOCK_FACTOR / NS_PER_MS
                * ((fault.durationNs() & 1) == 0 ? 1 : -1);
            case MEMORY -> arm(fault.durationNs() % FAULT_POINTS);
            case LOG, TORN -> disk.arm((int) (fault.durationNs() % FAULT_POINTS) / LOG_CALLS_PART,
                fault.kind() == Fault.Kind.TORN);
            default -> endsNs.merge(fault.kind(), simulation.nanoTime() + fault.durationNs(), Math::max);
        }
    }

    void end() {
        endsNs.clear();
        arm(-1);
        disk.disarm();
    }

    private boolean has(Fault.Kind kind) {
        Long endNs = endsNs.get(kind);
        return endNs != null && endNs > simulation.nanoTime();
    }

    long clockJumpMs() {
        return clockJumpMs;
    }

    /** Whether a call of the application may fail with that errno. */
    boolean explains(int errno) {
        return errno == FabricErrno.ENOSPC && endsNs.containsKey(Fault.Kind.DISK)
            || errno == FabricErrno.EMFILE && endsNs.containsKey(Fault.Kind.DESCRIPTORS)
            // what the driver was asked for when an access failed
            || errno == FabricErrno.EIO && hasFailedAccess
            || endsNs.containsKey(Fault.Kind.CALLS) && IntStream.of(OPEN_ERRNOS).anyMatch(each -> each == errno);
    }

    void checkCreate(String file, long lengthBytes) {
        if (has(Fault.Kind.DESCRIPTORS)) {
            throw new NativeCallException("openat", FabricErrno.EMFILE, file + ", to be created");
        }
        if (has(Fault.Kind.DISK)) {
            simulation.note("full", null, lengthBytes, 0);
            throw new NativeCallException("fallocate", FabricErrno.ENOSPC, file + ", " + lengthBytes + " bytes");
        }
    }

    void checkOpen(String file) {
        if (has(Fault.Kind.DESCRIPTORS)) {
            throw new NativeCallException("openat", FabricErrno.EMFILE, file);
        }
    }

    /** Errno with which a call of a socket fails, or 0. */
    int errno(SimulatedNetwork.Call call) {
        boolean opens = call == SimulatedNetwork.Call.OPEN || call == SimulatedNetwork.Call.ACCEPT;
        if (opens && has(Fault.Kind.DESCRIPTORS)) {
            return FabricErrno.EMFILE;
        }
        if (!has(Fault.Kind.CALLS) || random.nextInt(CALLS) != 0) {
            return 0;
        }
        int[] errnos = switch (call) {
            case OPEN -> OPEN_ERRNOS;
            case ACCEPT -> ACCEPT_ERRNOS;
            case SEND -> SEND_ERRNOS;
            case RECEIVE -> RECEIVE_ERRNOS;
        };
        return errnos[random.nextInt(errnos.length)];
    }

    /** The thread runs the node's driver from now on; returns the faults of the node whose driver it ran before. */
    NodeFaults enter() {
        NodeFaults before = INSIDE.get();
        INSIDE.set(this);
        return before;
    }

    /** The thread runs the driver of another node again, or none. */
    static void exit(NodeFaults before) {
        INSIDE.set(before);
    }

    private void arm(long accesses) {
        if (goodAccesses < 0 != accesses < 0) {
            count(accesses < 0 ? -1 : 1);
        }
        goodAccesses = accesses;
    }

    /** Points are expensive only while an access will fail. */
    private static synchronized void count(int more) {
        armed += more;
        FaultPoint.simulate(armed == 0 ? null : NodeFaults::onAccess);
    }

    private static void onAccess() {
        NodeFaults faults = INSIDE.get();
        if (faults != null && faults.goodAccesses >= 0) {
            faults.access();
        }
    }

    private void access() {
        if (goodAccesses > 0) {
            goodAccesses--;
            return;
        }
        arm(-1);
        hasFailedAccess = true;
        simulation.note("memory", null, 0, 0);
        throw new InternalError("a fault of the simulation occurred in a recent unsafe memory access operation");
    }
}
