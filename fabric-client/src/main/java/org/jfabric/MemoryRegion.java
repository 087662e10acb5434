package org.jfabric;

import java.lang.foreign.MemorySegment;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.control.CardKeyReady;
import org.jfabric.ffi.Libc;
import org.jfabric.info.Codes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;
import org.jfabric.info.Flags;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * Registered memory: the driver reads what is sent and writes what is received right here.
 *
 * <pre>{@code
 * MemoryRegion memory = domain.allocate(1 << 16);
 * memory.buffer().putLong(0, 42);
 * }</pre>
 *
 * <p>Operations name memory by {@link #address(long)}, the application reads and writes it by {@link #buffer()} or
 * {@link #segment()}. After {@link #close()} new operations that name it end with an error entry, running ones finish.
 * If the application has got a buffer, slice or segment of it, the memory stays as long as this object or one of those
 * is reachable, so that none of them ever fails: its space in the driver's directory comes back with a garbage
 * collection, which {@link Domain#allocate(long)} asks for where there is no room else. Without one the space comes
 * back at once. When the fabric is closed the contents are given back in any case: buffers of a region read zeros from
 * then on. A persistent region ({@link Domain#allocatePersistent}) shows its file.
 *
 * <p>Any thread; who may touch which byte when is the application's matter: what is posted belongs to the driver until
 * its entry is read. {@link #close()} is a control call.
 */
public final class MemoryRegion implements Fid {
    private final Domain domain;
    private final MemorySegment data;
    private final long base;
    private final long context;
    private volatile long key;
    private final RegionBindings bindings;
    private volatile long remoteAddress;
    private final MemoryRegionAttr attr;
    /** Of its file, to pass it to the next driver; -1 without one. */
    private int descriptor = -1;
    private volatile boolean closed;
    /** Set before the application has the region. */
    private boolean copied;
    /** Of the driver's directory, null for memory of the application. Set before the application has the region. */
    private MemorySegment file;
    /** The application has got a buffer, a slice or the segment, and may use it for as long as it likes. */
    private volatile boolean shown;
    /** The whole region, once it was asked for. */
    private volatile UnsafeBuffer whole;

    /** The answer of the card is null without one. */
    MemoryRegion(
        Domain domain, MemorySegment data, int regionIndex, long generation, MemoryRegionAttr attr,
        CardKeyReady card) {
        this.domain = domain;
        this.data = data;
        this.base = MemoryRegionDescriptor.address(regionIndex, (int) generation & 0xFF, 0);
        this.attr = attr;
        this.context = attr.context();
        this.key = card != null ? card.key() : attr.isRemote() ? attr.requestedKey() : base >>> 40;
        this.remoteAddress = card == null ? 0 : card.address();
        this.bindings = new RegionBindings(this, domain, !attr.isBindable());
    }

    /**
     * Address of the first byte, as operations take it.
     *
     * @return never 0.
     */
    public long address() {
        return base;
    }

    /**
     * Address of a byte, as operations take it.
     *
     * @param offset in bytes, 0 to the length.
     * @return never 0.
     * @throws FabricException with {@link FabricErrno#EINVAL} for another offset.
     */
    public long address(long offset) {
        if (offset < 0 || offset > data.byteSize()) {
            throw outside(offset, 0);
        }
        return base + offset;
    }

    /**
     * Bytes of the region.
     *
     * @return 1 or more.
     */
    public long lengthBytes() {
        return data.byteSize();
    }

    /**
     * The whole region as a buffer.
     *
     * @return the same buffer each time, which keeps the memory mapped.
     * @throws FabricException with {@link FabricErrno#EOVERFLOW} if the region is longer than a buffer can be.
     */
    public UnsafeBuffer buffer() {
        if (data.byteSize() > Integer.MAX_VALUE) {
            throw new FabricException(FabricErrno.EOVERFLOW, "the region has " + data.byteSize()
                + " bytes, a buffer at most " + Integer.MAX_VALUE,
                "Take parts by buffer(offset, length), or segment().");
        }
        UnsafeBuffer buffer = whole;
        if (buffer == null) {
            buffer = buffer(0, (int) data.byteSize());
            whole = buffer;
        }
        return buffer;
    }

    /**
     * A part of the region as a buffer. Keep it: each call makes an object.
     *
     * @param offset of its first byte.
     * @param length bytes.
     * @return a new buffer that keeps the memory mapped.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the part is not inside the region.
     */
    public UnsafeBuffer buffer(long offset, int length) {
        if (offset < 0 || length < 0 || offset > data.byteSize() - length) {
            throw outside(offset, length);
        }
        shown = true;
        // made of a byte buffer, because that refers to the segment and so to the mapping
        return new UnsafeBuffer(data.asSlice(offset, length).asByteBuffer());
    }

    /**
     * A part of the region with its address.
     *
     * @param offset of its first byte.
     * @param length bytes.
     * @return a new slice that keeps the memory mapped.
     * @throws FabricException with {@link FabricErrno#EINVAL} if the part is not inside the region.
     */
    public MemorySlice slice(long offset, int length) {
        return new MemorySlice(buffer(offset, length), address(offset), 0);
    }

    /**
     * The whole region as a segment.
     *
     * @return a segment that keeps the memory mapped.
     */
    public MemorySegment segment() {
        shown = true;
        return data;
    }

    /**
     * Whether the driver copies the bytes of operations and of peers' accesses, because it cannot map the memory; see
     * {@link Domain#register(MemorySegment, MemoryRegionAttr)}.
     *
     * @return true for memory of this process that was registered with any driver but one that is embedded in mode
     *     INVOKER.
     */
    public boolean isCopied() {
        return copied;
    }

    /**
     * Key of the region (fi_mr_key), by which peers name it.
     *
     * @return the requested key; with {@link org.jfabric.info.MrMode#PROV_KEY} the key that the card has chosen; of a
     *     region that peers cannot access its index and generation, 24 bits and never 0.
     */
    public long key() {
        return key;
    }

    /**
     * The remote address of the first byte: peers add the offset that they mean, and give the sum as {@code
     * remoteAddr}. With {@link org.jfabric.info.MrMode#VIRT_ADDR} it is a virtual address, which the application
     * sends to its peers as it does the key.
     *
     * @return 0 where peers give offsets.
     */
    public long remoteAddress() {
        return remoteAddress;
    }

    /**
     * Local descriptor (fi_mr_desc). Addresses say all that the driver needs, so operations take none.
     *
     * @return 0.
     */
    public long desc() {
        return 0;
    }

    /**
     * Binds a counter that counts the accesses of peers to this region, before the region is enabled (fi_mr_bind). An
     * access counts when it has succeeded, whichever endpoint of the domain it comes by. An atomic operation counts as
     * a write if it may change the region, and as a read if it brings old values.
     *
     * @param counter of the same domain; it may serve several regions and endpoints.
     * @param flags   {@link Flags#REMOTE_WRITE}, {@link Flags#REMOTE_READ} or both.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other bits, {@link FabricErrno#EINVAL} without a flag
     *     or if there is a counter for the kind, {@link FabricErrno#EOPBADSTATE} once enabled, for a region registered
     *     without {@link Flags#RMA_EVENT} and if either is closed, {@link FabricErrno#EDOMAIN} for another domain's.
     */
    public void bind(Counter counter, long flags) {
        bind((Fid) counter, flags);
    }

    /**
     * Binds an endpoint, before the region is enabled (fi_mr_bind): from then on only peers of bound endpoints can
     * access the region, those of other endpoints of the domain get {@code FI_EACCES}. That stays so when a bound
     * endpoint is closed.
     *
     * @param endpoint of the same domain, enabled before the region is.
     * @param flags    0.
     * @throws FabricException {@link FabricErrno#EBADFLAGS} for other flags, {@link FabricErrno#EINVAL} if it is bound
     *     already and for more than 512 endpoints, {@link FabricErrno#EOPBADSTATE} and {@link FabricErrno#EDOMAIN} as
     *     for a counter.
     */
    public void bind(Endpoint endpoint, long flags) {
        bind((Fid) endpoint, flags);
    }

    @Override
    public void bind(Fid object, long flags) {
        Codes.required(object, "object");
        synchronized (domain.lock()) {
            bindings.bind(object, flags);
        }
    }

    /**
     * Lets peers access a region that was registered with {@link Flags#RMA_EVENT} (fi_mr_enable); before, its key is
     * rejected. Everything must be bound by then. Enabling an enabled region does nothing.
     *
     * @throws FabricException {@link FabricErrno#EOPBADSTATE} if the region or an object that it is bound to is closed,
     *     or if an endpoint is not enabled; {@link FabricErrno#ENODEV} or {@link FabricErrno#ESHUTDOWN} if the driver
     *     is gone.
     */
    public void enable() {
        synchronized (domain.lock()) {
            bindings.enable();
        }
    }

    @Override
    public FidClass fidClass() {
        return FidClass.MR;
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
     * Ends the registration; the memory itself goes with its last user, or when the fabric is closed. Again does
     * nothing. Accesses of peers end with an error there from now on. An interrupt does not end the call.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while a counter or endpoint that the region is bound to is
     *     open; it then stays open. {@link FabricErrno#ETIMEDOUT} if the driver does not answer: the region stays open
     *     until it does, and memory of {@link Domain#register(MemorySegment, MemoryRegionAttr)} must not be freed or
     *     used for something else, because the driver may still write there; a repeated call awaits the same answer.
     */
    @Override
    public void close() {
        domain.close(this);
    }

    @Override
    public String toString() {
        return "MemoryRegion{address=" + Codes.hex(base) + ", lengthBytes=" + data.byteSize()
            + (copied ? ", copied" : "") + (closed ? ", closed" : "") + '}';
    }

    int index() {
        return MemoryRegionDescriptor.region(base);
    }

    /** Whether a range named by address and length is inside; the length is not negative. */
    boolean holds(long address, long length) {
        long offset = MemoryRegionDescriptor.offset(address);
        return address >>> 40 == base >>> 40 && offset <= data.byteSize() && length <= data.byteSize() - offset;
    }

    /** Where a byte of the region is in this process. */
    long nativeAddress(long address) {
        return data.address() + MemoryRegionDescriptor.offset(address);
    }

    MemoryRegionAttr attr() {
        return attr;
    }

    /** Index and generation as the next driver has to give them, so that addresses stay. */
    int place() {
        return (int) (base >>> 40);
    }

    /** Of its file; -1 for memory of the application. */
    int descriptor() {
        return descriptor;
    }

    void descriptor(int fd) {
        descriptor = fd;
    }

    /** The next driver has registered it with a card. */
    void onKeyChanged(CardKeyReady card) {
        key = card.key();
        remoteAddress = card.address();
    }

    Domain domain() {
        return domain;
    }

    MemorySegment file() {
        return file;
    }

    void file(MemorySegment mapped) {
        file = mapped;
    }

    boolean isShown() {
        return shown;
    }

    RegionBindings bindings() {
        return bindings;
    }

    void markCopied() {
        copied = true;
    }

    void markClosed() {
        closed = true;
        if (descriptor >= 0) {
            Libc.close(descriptor);
            descriptor = -1;
        }
    }

    private FabricException outside(long offset, long length) {
        return new FabricException(FabricErrno.EINVAL, "offset " + offset + " and length " + length
            + " are not inside a region of " + data.byteSize() + " bytes");
    }
}
