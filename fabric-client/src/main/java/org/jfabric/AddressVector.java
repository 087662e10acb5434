package org.jfabric;

import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Turns addresses of peers into the numbers that operations take as destination and source.
 *
 * <p>Every call is a control call, from any thread; with an embedded driver from the thread that uses the domain.
 * {@link #lookup}, {@link #straddr} and {@link #size} ask nobody and are allowed inside a {@link FabricListener} too.
 * Source: REF-016 to REF-022.
 */
public final class AddressVector implements AutoCloseable {
    /** Its own lock, so that a listener may ask while another thread is in a control call. */
    private final Long2ObjectHashMap<String> addresses = new Long2ObjectHashMap<>();
    private final List<Endpoint> endpoints = new ArrayList<>();
    private final Domain domain;
    private final long id;
    private final AddressVectorType type;
    private boolean closed;

    AddressVector(Domain domain, long id, AddressVectorType type) {
        this.domain = domain;
        this.id = id;
        this.type = type;
    }

    /**
     * Inserts an address; the peer need not exist yet.
     *
     * @param address as {@link Endpoint#name()} tells it, for example {@code jfabric://default/ep-1}.
     * @return its number.
     * @throws FabricException {@link FabricErrno#EINVAL} for what is no address, {@link FabricErrno#EOPBADSTATE} if
     *     closed, or what the driver answers.
     */
    public long insert(String address) {
        Codes.required(address, "address");
        synchronized (domain.lock()) {
            requireOpen();
            return domain.insert(this, address);
        }
    }

    /**
     * Inserts an address as error data tells it: what {@link CompletionError#errData()} of an entry with
     * {@link FabricErrno#EADDRNOTAVAIL} holds is taken unchanged (CQ-095).
     *
     * @param rawAddress the bytes of the address, from index 0 to the capacity.
     * @return its number.
     * @throws FabricException as {@link #insert(String)}.
     */
    public long insert(DirectBuffer rawAddress) {
        byte[] bytes = new byte[Codes.required(rawAddress, "rawAddress").capacity()];
        rawAddress.getBytes(0, bytes);
        return insert(new String(bytes, StandardCharsets.US_ASCII));
    }

    /**
     * Inserts a service that an endpoint published (fi_av_insertsvc).
     *
     * @param driverName the driver that the endpoint is opened in.
     * @param service    the name published.
     * @return its number.
     * @throws FabricException as {@link #insert(String)}.
     */
    public long insertService(String driverName, String service) {
        return insert("jfabric://" + Codes.required(driverName, "driverName") + '/'
            + Codes.required(service, "service"));
    }

    /**
     * Removes an address; operations that name it afterwards end with an error entry.
     *
     * @param fiAddr its number.
     * @throws FabricException {@link FabricErrno#EINVAL} if there is no such number, {@link FabricErrno#EOPBADSTATE} if
     *     closed, or what the driver answers.
     */
    public void remove(long fiAddr) {
        synchronized (domain.lock()) {
            requireOpen();
            lookup(fiAddr);
            domain.remove(this, fiAddr);
            synchronized (addresses) {
                addresses.remove(fiAddr);
            }
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
     * A number as text for people; never fails.
     *
     * @param fiAddr any number.
     * @return the address, or what is wrong with the number.
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

    /**
     * Whether {@link #close()} has not succeeded yet.
     *
     * @return false once it is closed.
     */
    public boolean isOpen() {
        return !closed;
    }

    /**
     * Closes the vector. Again does nothing.
     *
     * @throws FabricException with {@link FabricErrno#EBUSY} while an endpoint bound to it is open.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "AddressVector{id=" + id + ", addresses=" + addresses.size() + (closed ? ", closed" : "") + '}';
    }

    Domain domain() {
        return domain;
    }

    long id() {
        return id;
    }

    List<Endpoint> endpoints() {
        return endpoints;
    }

    void onInserted(long fiAddr, String address) {
        synchronized (addresses) {
            addresses.put(fiAddr, address);
        }
    }

    void markClosed() {
        closed = true;
    }

    private void requireOpen() {
        if (closed) {
            throw new FabricException(FabricErrno.EOPBADSTATE, "the address vector is closed", "Open another one.");
        }
    }
}
