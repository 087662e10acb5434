package org.jfabric;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.client.DriverProxy;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.AddressVectorType;
import org.jfabric.info.Codes;
import org.jfabric.info.EventType;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.info.IbUdName;
import org.jfabric.info.PeerPath;
import org.jfabric.info.SocketName;

/**
 * Turns addresses of peers into the numbers that operations take as destination and source.
 *
 * <pre>{@code
 * AddressVector peers = domain.openAddressVector(new AddressVectorAttr());
 * long peer = peers.insert("jfabric://desk/orders");
 * }</pre>
 *
 * <p>Every call is a control call, from any thread; with an embedded driver in INVOKER mode from the thread that uses
 * the domain. {@link #lookup}, {@link #straddr} and {@link #size} do not ask the driver and are allowed inside a
 * {@link FabricListener} too. Source: fi_av(3).
 */
public final class AddressVector implements Fid {
    /** Its own lock, so that a listener may ask while another thread is in a control call. */
    private final Long2ObjectHashMap<String> addresses = new Long2ObjectHashMap<>();
    /** Endpoints, scalable ones too. */
    private final List<Fid> endpoints = new ArrayList<>();
    /** Of the addresses: another one after each change. Written under their lock. */
    private volatile int version;
    private final Domain domain;
    private final AddressVectorAttr attr;
    private long id;
    private final AddressVectorType type;
    private final boolean asynchronous;
    private final long context;
    private EventQueue eventQueue;
    private volatile boolean closed;

    AddressVector(Domain domain, long id, AddressVectorAttr attr, long context) {
        this.domain = domain;
        this.id = id;
        this.attr = attr;
        this.type = attr.type();
        this.asynchronous = (attr.flags() & Flags.EVENT) != 0;
        this.context = context;
    }

    /**
     * Binds the event queue that reports insertions; needed before the first one if the vector was opened with
     * {@link Flags#EVENT} (fi_av_bind).
     *
     * @param queue of the same fabric.
     * @param flags 0; no bits are defined.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} without EVENT
     *     at open, if there is one already, or for another fabric's, {@link FabricErrno#EOPBADSTATE} if either is
     *     closed.
     */
    public void bind(EventQueue queue, long flags) {
        Codes.required(queue, "queue");
        synchronized (domain.lock()) {
            requireOpen();
            if (flags != 0) {
                throw new FabricException(FabricErrno.EBADFLAGS,
                    "bind flags are " + Codes.hex(flags) + ", an event queue has none", "Bind it with flags 0.");
            }
            if (!asynchronous || eventQueue != null || queue.fabric() != domain.fabric()) {
                throw new FabricException(FabricErrno.EINVAL, !asynchronous
                    ? "the address vector was opened without FI_EVENT, so it has no events"
                    : eventQueue != null ? "an event queue is bound already"
                    : "an event queue of another fabric cannot be bound");
            }
            if (!queue.isOpen()) {
                throw new FabricException(FabricErrno.EOPBADSTATE, "an event queue that is closed cannot be bound");
            }
            eventQueue = queue;
            queue.users().add(this);
        }
    }

    @Override
    public void bind(Fid object, long flags) {
        if (!(Codes.required(object, "object") instanceof EventQueue queue)) {
            throw new FabricException(FabricErrno.EINVAL, "an object of class " + object.fidClass()
                + " cannot be bound to an address vector", "Bind an event queue.");
        }
        bind(queue, flags);
    }

    /**
     * Inserts several addresses. An address that is refused does not prevent the insertion of the others. The checks
     * are those of {@link #insert(String)}, which also gives the reason of a refusal as text.
     *
     * <p>If the vector was opened with {@link Flags#EVENT} the call returns at once. The bound event queue then gets an
     * error entry for each address that failed, with this vector, the context, and the address's index as data; after
     * them always one {@link EventType#AV_COMPLETE}, with this vector, the context, and the number of addresses
     * inserted as data. Calls may end in another order than they were made. Until then both arrays must not be changed.
     *
     * @param names   addresses as {@link #insert(String)} takes them.
     * @param fiAddrs receives the number of each, {@link FabricAddress#ADDR_NOTAVAIL} for one that failed; at least as
     *                long as {@code names}, or null if the numbers are not wanted.
     * @param context comes back in events.
     * @param flags   0, or {@link Flags#MORE} as a hint.
     * @return how many were inserted; 0 if events will report it.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} for an array
     *     that is too short or holds null, {@link FabricErrno#ENOEQ} with EVENT and no event queue bound,
     *     {@link FabricErrno#EOPBADSTATE} if closed, and the errno of a driver that is gone.
     */
    public int insert(String[] names, long[] fiAddrs, long context, long flags) {
        requireInsertable(names, fiAddrs, flags);
        synchronized (domain.lock()) {
            requireOpen();
            domain.requireDriver();
            if (asynchronous) {
                if (eventQueue == null) {
                    throw new FabricException(FabricErrno.ENOEQ, "no event queue is bound to the address vector",
                        "Bind one before the first insertion, or open the vector without FI_EVENT.");
                }
                domain.insert(this, names, new AddressInsertion(this, eventQueue, names, fiAddrs, context));
                return 0;
            }
            int inserted = 0;
            for (int i = 0; i < names.length; i++) {
                long fiAddr = FabricAddress.ADDR_NOTAVAIL;
                try {
                    fiAddr = domain.insert(this, names[i]);
                    inserted++;
                } catch (FabricException refused) {
                    // the address is refused, or the driver is gone
                    domain.requireDriver();
                }
                if (fiAddrs != null) {
                    fiAddrs[i] = fiAddr;
                }
            }
            return inserted;
        }
    }

    /**
     * Inserts an address.
     *
     * <p>The form of the address is checked, and that a link of at least one enabled endpoint bound to this vector
     * reaches addresses of that kind. Whether the peer or its driver exists is not checked: the first send connects,
     * and completes with an error entry if there is no answer. Before an endpoint is enabled, links are not checked
     * either; sends to an address that no link reaches then complete with {@link FabricErrno#EHOSTUNREACH}.
     *
     * @param address as {@link Endpoint#name()} returns it, for example {@code jfabric://default/quotes} or a
     *                {@link SocketName}; the driver resolves the host of
     *                {@code fi_sockaddr://host.example:45007} while its other work continues.
     * @return its number.
     * @throws FabricException {@link FabricErrno#EINVAL} for a malformed address, {@link FabricErrno#ENODATA} for a
     *     host that cannot be resolved, {@link FabricErrno#EADDRNOTAVAIL} with a verdict on each link, as
     *     {@link PeerPath#explain()}, if no link of the endpoints reaches it, {@link FabricErrno#EOPBADSTATE} if
     *     closed, {@link FabricErrno#EOPNOTSUPP} if the vector was opened with {@link Flags#EVENT}, or what the driver
     *     answers.
     */
    public long insert(String address) {
        Codes.required(address, "address");
        synchronized (domain.lock()) {
            requireOpen();
            if (asynchronous) {
                throw new FabricException(FabricErrno.EOPNOTSUPP,
                    "the address vector was opened with FI_EVENT, so an insertion has no number to return yet",
                    "Call insert with arrays, or open the vector without FI_EVENT.");
            }
            return domain.insert(this, address);
        }
    }

    /**
     * Inserts an address in the form of error data: the content of {@link CompletionError#errData()} of an entry with
     * {@link FabricErrno#EADDRNOTAVAIL} is accepted unchanged.
     *
     * @param rawAddress the bytes of the address, from index 0 to the capacity.
     * @return its number.
     * @throws FabricException as {@link #insert(String)}.
     */
    public long insert(DirectBuffer rawAddress) {
        byte[] bytes = new byte[Codes.required(rawAddress, "rawAddress").capacity()];
        rawAddress.getBytes(0, bytes);
        String text = new String(bytes, StandardCharsets.US_ASCII);
        return insert(switch (domain.addressImage()) {
            case ADDR_IB_UD -> IbUdName.isName(text) ? text : IbUdName.ofBytes(bytes).toString();
            case SOCKADDR -> SocketName.isName(text) ? text : SocketName.ofBytes(bytes).toString();
            default -> text;
        });
    }

    /**
     * Inserts a service that an endpoint published, or a host and port where the domain's endpoints have socket
     * addresses (fi_av_insertsvc).
     *
     * @param node    the driver that the endpoint is opened in; or a host's name or number.
     * @param service the name published; or a port.
     * @return its number.
     * @throws FabricException as {@link #insert(String)}.
     */
    public long insertService(String node, String service) {
        Codes.required(node, "node");
        Codes.required(service, "service");
        // a service that is not a port number was published by an endpoint of a driver on this host
        boolean isHost = domain.usesSocketNames() && service.chars().allMatch(c -> c >= '0' && c <= '9');
        return insert(isHost
            ? SocketName.ofHost(node, service) : "jfabric://" + node + '/' + service);
    }

    /**
     * Removes an address; operations that name it afterwards end with an error entry. If the call ends with
     * {@link FabricErrno#ETIMEDOUT} the address stays until the driver has answered; a repeated call awaits that.
     *
     * <p>An operation that was posted before names the number, too. If the driver has not begun it, and the next
     * address that is inserted gets the number, it goes to that one. So read the entries of all operations first.
     *
     * @param fiAddr its number.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is no such number, {@link FabricErrno#EOPBADSTATE} if
     *     closed, or what the driver answers.
     */
    public void remove(long fiAddr) {
        synchronized (domain.lock()) {
            requireOpen();
            lookup(fiAddr);
            domain.commands().removeAddress(id, fiAddr, () -> {
                synchronized (addresses) {
                    addresses.remove(fiAddr);
                    version++;
                }
            });
        }
    }

    /**
     * The address of a number.
     *
     * @param fiAddr number given by an insertion.
     * @return the address as the driver knows it.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is no such number.
     */
    public String lookup(long fiAddr) {
        synchronized (addresses) {
            String address = addresses.get(fiAddr);
            if (address == null) {
                throw new FabricException(FabricErrno.EINVAL, "no address has number " + fiAddr + " in a vector with "
                    + addresses.size() + " addresses");
            }
            return address;
        }
    }

    /**
     * The address of a number as readable text; never fails.
     *
     * @param fiAddr any number.
     * @return the address, or a text that says why there is none.
     */
    public String straddr(long fiAddr) {
        synchronized (addresses) {
            String address = addresses.get(fiAddr);
            if (address != null) {
                return address;
            }
        }
        return fiAddr == FabricAddress.ADDR_NOTAVAIL ? "unknown address" : "no address (" + fiAddr + ')';
    }

    /**
     * How addresses are numbered.
     *
     * @return as asked for at open.
     */
    public AddressVectorType type() {
        return type;
    }

    /**
     * Addresses in the vector.
     *
     * @return a count.
     */
    public int size() {
        synchronized (addresses) {
            return addresses.size();
        }
    }

    @Override
    public FidClass fidClass() {
        return FidClass.AV;
    }

    @Override
    public long context() {
        return context;
    }

    @Override
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the vector. Has no effect if it is already closed.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while an endpoint bound to it is open,
     *     {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "AddressVector{id=" + id + ", addresses=" + addresses.size() + (closed ? ", closed" : "") + '}';
    }

    /** The address with that number, null if there is none. Another object after each insertion. */
    String addressOf(long fiAddr) {
        synchronized (addresses) {
            return addresses.get(fiAddr);
        }
    }

    int version() {
        return version;
    }

    Domain domain() {
        return domain;
    }

    long id() {
        return id;
    }

    List<Fid> endpoints() {
        return endpoints;
    }

    void onInserted(long fiAddr, String address) {
        synchronized (addresses) {
            addresses.put(fiAddr, address);
            version++;
        }
    }

    /** Opens it with the next driver, with the same addresses under the same numbers. */
    void reopen(DriverProxy commands) {
        id = commands.openAddressVector(attr).avId();
        long[] numbers;
        synchronized (addresses) {
            numbers = addresses.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
        }
        List<Long> holes = new ArrayList<>();
        long next = 0;
        for (long number : numbers) {
            for (; next < number; next++) {
                // a driver gives the lowest free number: what was removed is inserted and removed again
                insertAgain(commands, filler(next), next);
                holes.add(next);
            }
            insertAgain(commands, addressOf(number), number);
            next = number + 1;
        }
        for (long hole : holes) {
            commands.removeAddress(id, hole, () -> { });
        }
    }

    /** An address that no peer has: a name that no driver gives, or a place in the range of IPv4 that is not in use. */
    private String filler(long number) {
        return !domain.usesSocketNames() ? "jfabric://" + domain.fabric().driverName() + "/ep-0-" + number
            : SocketName.IN_SCHEME + "240." + (number >> 16 & 0xFF) + '.' + (number >> 8 & 0xFF) + '.' + (number & 0xFF)
                + ":1";
    }

    private void insertAgain(DriverProxy commands, String address, long number) {
        long given = commands.insertAddress(id, address, late -> true).fiAddr();
        if (given != number) {
            throw new FabricException(FabricErrno.EOPNOTSUPP, "the driver gave " + address + " the number " + given
                + " instead of " + number, "Connect again, with a driver that gives the lowest free number.");
        }
    }

    void markClosed() {
        closed = true;
        if (eventQueue != null) {
            eventQueue.users().remove(this);
        }
    }

    private static void requireInsertable(String[] names, long[] fiAddrs, long flags) {
        if ((flags & ~Flags.MORE) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS, "flags of an insertion are "
                + Flags.toString(flags, Flags.Kind.AV_INSERT) + ", offered is MORE");
        }
        for (String name : Codes.required(names, "names")) {
            Codes.required(name, "an address in names");
        }
        if (fiAddrs != null && fiAddrs.length < names.length) {
            throw new FabricException(FabricErrno.EINVAL, "fiAddrs has room for " + fiAddrs.length
                + " numbers, needed are " + names.length);
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the address vector is closed", "Open another one.");
        }
    }
}
