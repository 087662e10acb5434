package org.jfabric;

import java.lang.ref.Reference;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.jfabric.client.GroupPort;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.info.SocketName;

/**
 * A multicast group that an endpoint has joined (fi_join, fid_mc): what is sent to its address reaches all members, as
 * far as datagrams arrive at all, and so does what this endpoint sends there itself.
 *
 * <pre>{@code
 * MulticastGroup group = endpoint.join("fi_sockaddr_in://239.1.1.1:40000", 0, 0);
 * endpoint.send(memory.address(), 64, group.fiAddr(), 1);
 * }</pre>
 *
 * <p>Groups of link shm, {@code jfabric://<driver>/<group>}, have one writer, and are reliable: each reader gets every
 * message from its joining on. If the writer has left or its driver has ended, a reader gets what was written, then an
 * error event ({@link FabricErrno#ESHUTDOWN}, {@link FabricErrno#ECONNRESET}); a reader that was removed because it did
 * not read gets {@link FabricErrno#ETIMEDOUT}. The membership has ended then; close the group and join again.
 *
 * <p>Opened by {@link Endpoint#join(String, long, long)}. Messages that came by a group are marked with
 * {@link Flags#MULTICAST} in their entries. Control calls, from any thread; with an embedded driver from the thread
 * that uses the domain. Source: fi_cm(3), section fi_join.
 */
public final class MulticastGroup implements Fid {
    private final Domain domain;
    private final Endpoint endpoint;
    private final String address;
    private final long fiAddr;
    private final long context;
    private final LogPosition start;
    private final Path log;
    private volatile boolean open = true;
    /** Null unless it is read in place. */
    private MulticastReader reader;
    /** Null unless an embedded driver in mode INVOKER writes for this client. */
    private final GroupPort port;

    MulticastGroup(Domain domain, Endpoint endpoint, String address, long fiAddr, long context, LogPosition start,
        Path log, boolean writes) {
        this.domain = domain;
        this.endpoint = endpoint;
        this.address = address;
        this.fiAddr = fiAddr;
        this.context = context;
        this.start = start;
        this.log = log;
        this.port = writes && start != null ? endpoint.groupPort(fiAddr) : null;
    }

    /**
     * The group as destination of sends (fi_mc_addr). It is a number of the endpoint's address vector, and stays valid
     * for sends after the group was left; over link shm these complete with {@link FabricErrno#ENOTCONN}.
     *
     * @return the number.
     */
    public long fiAddr() {
        return fiAddr;
    }

    /**
     * The group's address: of datagrams with the port that its messages go to.
     *
     * @return text of a {@link SocketName}, or over link shm a {@code jfabric://} name.
     */
    public String address() {
        return address;
    }

    /**
     * Where the membership begins in the log of a group over link shm: of a reader its first message, of a writer the
     * next one that it sends.
     *
     * @return the place; null of a group of datagrams, which has no log.
     */
    public LogPosition start() {
        return start;
    }

    /**
     * Where a group over link shm is recorded: its messages can be read there with
     * {@link org.jfabric.stream.LogReader}.
     *
     * @return the folder, on this host; null if the group is not recorded.
     */
    public Path log() {
        return log;
    }

    /**
     * The member.
     *
     * @return the endpoint that has joined.
     */
    public Endpoint endpoint() {
        return endpoint;
    }

    /**
     * Writes a message to the group; the bytes may be changed when the call returns. With an embedded driver in mode
     * INVOKER that is the shortest way: straight into the group's ring, without an entry or a slot of a queue. Else it
     * is {@link Endpoint#inject(DirectBuffer, int, int, long)}.
     *
     * @param buffer holds the message.
     * @param offset of its first byte.
     * @param length bytes, 0 to {@link #offerLength()}.
     * @return 0; {@code -FI_EAGAIN} if a reader or the driver must catch up; {@code -FI_EMSGSIZE} for more bytes than
     *     the group takes, {@code -FI_EINVAL} for a range outside of the buffer; or another negative errno of a
     *     send. If the group has ended that is said by the entry of the send, an error. Owner: the thread that posts
     *     to the endpoint.
     */
    public int offer(DirectBuffer buffer, int offset, int length) {
        if (port == null || !open || domain.locks()) {
            return endpoint.inject(buffer, offset, length, fiAddr);
        }
        if (length < 0 || offset < 0 || offset > buffer.capacity() - length) {
            return -FabricErrno.EINVAL;
        }
        int result = port.offer(buffer.byteArray(), buffer.addressOffset() + offset, length);
        // only the address was in use: memory whose last user was this call must not go before
        Reference.reachabilityFence(buffer);
        // the reason why the group has ended is in the entry of a send
        return result == -FabricErrno.ENOTCONN ? endpoint.inject(buffer, offset, length, fiAddr) : result;
    }

    /**
     * Whether a message can be offered now, which need not stay so if another one is. Owner: as for {@link #offer}.
     *
     * @param length bytes.
     * @return false if {@link #offer} would answer {@code -FI_EAGAIN}; true also if that is not known.
     */
    public boolean hasRoom(int length) {
        return port == null || !open || domain.locks() || port.hasRoom(length);
    }

    /**
     * The longest message that {@link #offer} may take.
     *
     * @return bytes; the group may take fewer.
     */
    public int offerLength() {
        return port == null || domain.locks() ? endpoint.injectSize() : Integer.MAX_VALUE;
    }

    @Override
    public FidClass fidClass() {
        return FidClass.MC;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    /**
     * Leaves the group; closing its endpoint does so too. Has no effect if it is already closed.
     *
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}.
     */
    @Override
    public void close() {
        synchronized (domain.lock()) {
            if (open) {
                domain.commands().leave(endpoint.id(), fiAddr, () -> {
                    markClosed();
                    endpoint.connection().onLeft(this);
                });
            }
        }
    }

    @Override
    public String toString() {
        return "MulticastGroup{" + address + (open ? "" : ", closed") + '}';
    }

    boolean isReadInPlace() {
        return reader != null;
    }

    void reader(MulticastReader newReader) {
        reader = newReader;
    }

    /** The membership has ended, by itself or with its endpoint. */
    void markClosed() {
        open = false;
        if (reader != null) {
            reader.onLeft(domain.fabric());
        }
    }
}
