package org.jfabric.driver.link.udp;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.Arrays;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.Sockets;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.BoundAddress;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.ffi.DatagramRun;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketClass;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;
import org.jfabric.info.TimestampClock;

/**
 * A bound UDP socket. Opened on the resource thread; owner afterwards: progress agent.
 */
public abstract class UdpPort extends BoundAddress {
    private final UdpNetwork network;
    private final SocketName name;
    private final InetAddress local;
    private final DriverConfig config;
    private boolean refusesGroups;
    private TimestampClock arrivals;
    private TimestampClock departures;
    /** Its descriptors that are watched; null before the first is armed. */
    private Watch[] watches;

    UdpPort(UdpNetwork network, SocketName name, InetAddress local, DriverConfig config) {
        this.network = network;
        this.name = name;
        this.local = local;
        this.config = config;
    }

    /** A socket whose groups are those of the system. */
    protected UdpPort(SocketName name, InetAddress local, DriverConfig config) {
        this(UdpNetwork.of(Sockets.NATIVE), name, local, config);
    }

    /** Has {@link #join} refuse, because the datagrams of a group cannot be encrypted. */
    final UdpPort withoutGroups() {
        refusesGroups = true;
        return this;
    }

    /** Room asked of the kernel for datagrams that wait. */
    final int bufferBytes() {
        return config.get(UdpConfig.BUFFER_BYTES);
    }

    /**
     * Opens a socket for the group, bound to the group's address: it receives nothing else, so that the messages of the
     * group can be distinguished from others.
     */
    @Override
    public final BoundAddress join(SocketName group) {
        if (refusesGroups) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "joining " + group + " over dtls",
                "Use link udp, whose messages are plain: a session has two ends, a group has many.");
        }
        if (group.isIn6() || name.isIn6()) {
            throw new FabricException(FabricErrno.EOPNOTSUPP,
                "joining " + group + " with " + name, "Use groups and endpoints of IPv4.");
        }
        return openGroup(group);
    }

    /** A socket for a group, on the same interface. */
    final UdpPort openGroup(SocketName group) {
        UdpPort port = network.open(group, local, true, config);
        int result = port.stamp(arrivals, null);
        result = result < 0 ? result : port.joinGroup(group);
        if (result < 0) {
            port.close();
            throw new FabricException(-result, "the group " + group + " cannot be joined at " + local.getHostAddress(),
                "Name an interface with multicast, and check net.ipv4.igmp_max_memberships.");
        }
        return port;
    }

    /**
     * Opens a socket with this address that sends to one peer, and receives what that sends; resource thread. The
     * addresses in vectors stay empty. Null if the system has none.
     */
    protected UdpPort openConnected(SocketName peer) {
        return null;
    }

    final UdpNetwork network() {
        return network;
    }

    final DriverConfig config() {
        return config;
    }

    final InetAddress local() {
        return local;
    }

    /** Number of the interface with an address; 0 if there is none. */
    static int interfaceIndex(InetAddress address) {
        try {
            NetworkInterface found = NetworkInterface.getByInetAddress(address);
            return found == null ? 0 : found.getIndex();
        } catch (SocketException gone) {
            return 0;
        }
    }

    /** Makes the next datagram wake the driver; false if the system has no event for it. */
    final boolean arm(LinkServices services, Runnable onArrival) {
        if (watches == null) {
            watches = Arrays.stream(descriptors()).mapToObj(Watch::new).toArray(Watch[]::new);
        }
        for (Watch watch : watches) {
            watch.arm(services, onArrival);
        }
        return watches.length != 0;
    }

    /** Stops watching the socket and closes it. */
    public final void close(LinkServices services) {
        if (watches != null) {
            for (Watch watch : watches) {
                if (watch.isWatched) {
                    services.unwatch(watch.fd);
                }
            }
        }
        release(services);
    }

    /** Closes it from a duty cycle, which must not wait for the system. */
    protected void release(LinkServices services) {
        close();
    }

    /** A descriptor that wakes the driver once, until it is armed again. */
    private final class Watch {
        private final int fd;
        private boolean isWatched;
        private boolean isArmed;

        Watch(int fd) {
            this.fd = fd;
        }

        void arm(LinkServices services, Runnable onArrival) {
            if (isArmed) {
                return;
            }
            if (isWatched) {
                isArmed = true;
                services.rearm(fd);
                return;
            }
            services.watch(fd, readable -> {
                isArmed = false;
                arrived(fd);
                onArrival.run();
            });
            // not if the system has refused it: then the next attempt watches
            isWatched = true;
            isArmed = true;
        }
    }

    @Override
    public final String address() {
        return name.toString();
    }

    /** The address that it is bound to. */
    public final SocketName name() {
        return name;
    }

    /** Descriptors that become readable when datagrams arrive; empty if there are none. */
    protected abstract int[] descriptors();

    /** One of the descriptors has become readable. */
    protected void arrived(int fd) {
        // the next poll reads it
    }

    /** Receives available datagrams up to a limit; their number. */
    protected abstract int receive(MessageVector vector, int count);

    /**
     * Has the system give times. Groups that are joined get times of arrival, too.
     *
     * @param arrivals   whose clock those of arrivals are of; null for none.
     * @param departures whose clock those of departures are of; null for none. The same, if both are there.
     * @return 0 or a negative errno.
     */
    public final int stamp(TimestampClock arrivals, TimestampClock departures) {
        this.arrivals = arrivals;
        this.departures = departures;
        if (arrivals == null && departures == null) {
            return 0;
        }
        return enableTimes(
            (arrivals == null ? departures : arrivals) == TimestampClock.CARD, arrivals != null, departures != null);
    }

    /** As {@link #stamp} has done: the system numbers datagrams from 0 again. */
    final int stampAgain() {
        return stamp(arrivals, departures);
    }

    /** Takes times of datagrams that have left; their number. */
    protected int receiveDepartures(MessageVector vector, int count) {
        return 0;
    }

    /** Whose clock times of arrival are of; null if there are none. */
    final TimestampClock arrivals() {
        return arrivals;
    }

    /** Whose clock times of departure are of; null if there are none. */
    final TimestampClock departures() {
        return departures;
    }

    /** As {@link #stamp}. */
    protected int enableTimes(boolean ofCard, boolean hasArrivals, boolean hasDepartures) {
        return -FabricErrno.EOPNOTSUPP;
    }

    /** As {@link #receive(MessageVector, int)}, with times. */
    protected int receiveTimed(MessageVector vector, int count) {
        return receive(vector, count);
    }

    /** When a datagram of the last {@link #receiveTimed} arrived, in nanoseconds; 0 if that is not known. */
    protected long timeNs(MessageVector vector, int index, boolean ofCard) {
        return vector.timeNs(index, ofCard);
    }

    /** Sends datagrams; the number that was taken, or a negative errno for the first. */
    public abstract int send(MessageVector vector, int count);

    /** Has the system join the datagrams that arrive, if it can; they are then read as runs only. */
    protected boolean join() {
        return false;
    }

    /** Receives a run of joined datagrams into memory; its bytes, negative if there is none. */
    protected int receive(DatagramRun run, long address, int length) {
        throw new IllegalStateException("datagrams are not joined here");
    }

    /** Marks its packets; what the system refuses leaves them as they were. */
    protected abstract void mark(SocketClass marks);

    /** A channel has been opened to be sent by. */
    protected void opened(UdpChannel channel) {
        // the system finds the route of each datagram
    }

    /** A channel that was {@link #opened} has been closed. */
    protected void closed(UdpChannel channel) {
        // as above
    }

    /** Whether a task of this port runs on the resource thread, whose end needs a cycle. */
    protected boolean isBusy() {
        return false;
    }

    /** The vector for {@link #receive}: the link's, unless the port has places of its own. */
    protected MessageVector incoming(MessageVector shared) {
        return shared;
    }

    /** The datagrams of the last {@link #receive} are not needed any more. */
    protected void delivered() {
        // they were copied
    }

    /** Whether {@link #receive} makes no system call, so that a quiet port may be polled in every cycle. */
    protected boolean isMapped() {
        return false;
    }

    /** Joins a group; 0 or a negative errno. */
    protected abstract int joinGroup(SocketName group);
}
