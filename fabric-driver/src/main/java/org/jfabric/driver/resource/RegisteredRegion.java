package org.jfabric.driver.resource;

import org.agrona.UnsafeApi;
import org.jfabric.layout.MemoryRegionDescriptor;

/**
 * A client's registered memory in the driver: the address of its mapping here, and the operations that use it.
 *
 * <p>Closing marks the region, so that no new operation finds it; the mapping goes when the last operation that uses it
 * has ended. Owner: progress agent, except for the final fields.
 */
public final class RegisteredRegion {
    private final long number;
    private final long generation;
    private final long address;
    private final long lengthBytes;
    private final RegionKey key;
    /** Of the file's header in this process; 0 without a file. */
    private final long header;
    private final Runnable release;
    /** Null unless the bytes are copied. */
    private final ClientMemory memory;
    /** Of the first byte in that memory. */
    private final long clientAddress;
    /** Null of a region that all endpoints of its domain give access to, and whose accesses are not counted. */
    private RegionBinding binding;
    /** Null unless the region is persistent. */
    private RegionSync sync;
    private int useCount;
    private boolean closed;
    /** Read by the conductor, too. */
    private volatile int exposures;

    /**
     * A region that operations can use.
     *
     * @param number      number of its {@code .mr} file, or 0 for memory of the embedding process that has none.
     * @param generation  all 64 bits of its generation.
     * @param address     native address of its first byte in this process.
     * @param release     gives the mapping back; called once, on the progress thread, and must not block.
     */
    public RegisteredRegion(long number, long generation, long address, long lengthBytes, Runnable release) {
        this(number, generation, address, lengthBytes, RegionKey.NONE, release);
    }

    /** A region that peers can use, too. */
    public RegisteredRegion(
        long number, long generation, long address, long lengthBytes, RegionKey key, Runnable release) {
        this.number = number;
        this.generation = generation;
        this.address = address;
        this.lengthBytes = lengthBytes;
        this.key = key;
        this.header = 0;
        this.release = release;
        this.memory = null;
        this.clientAddress = 0;
    }

    private RegisteredRegion(
        SharedFile file, long lengthBytes, RegionKey key, ClientMemory memory, long clientAddress, Runnable release) {
        this.number = file.number();
        this.generation = file.generation();
        this.address = file.address() + MemoryRegionDescriptor.DATA_OFFSET;
        this.lengthBytes = lengthBytes;
        this.key = key;
        this.header = file.address();
        this.release = release;
        this.memory = memory;
        this.clientAddress = clientAddress;
    }

    /** A region in a file, which peers can map. */
    public static RegisteredRegion inFile(SharedFile file, long length, RegionKey key, Runnable release) {
        return new RegisteredRegion(file, length, key, null, 0, release);
    }

    /**
     * A region of a client's process, with a file of the same length for the bytes of its client's operations: these
     * are copied there when an operation begins, and back before its entry is written. Accesses of peers are copied
     * from and to the client's memory alone, so that they neither see nor change bytes of an operation in progress.
     *
     * @param clientAddress of the first byte there.
     */
    public static RegisteredRegion copied(
        SharedFile file, long length, RegionKey key, ClientMemory memory, long clientAddress, Runnable release) {
        return new RegisteredRegion(file, length, key, memory, clientAddress, release);
    }

    /** Whether the bytes at {@link #address()} are a copy. */
    public boolean isCopied() {
        return memory != null;
    }

    /**
     * Copies bytes of the client to {@link #address()}, for an operation that begins.
     *
     * @param offset of the first byte.
     * @return false if the client's memory is not there any more.
     */
    public boolean fetch(long offset, long length) {
        return memory.read(clientAddress + offset, address + offset, length);
    }

    /**
     * Copies bytes at {@link #address()} to the client, before the entry of the operation that has brought them.
     *
     * @param offset of the first byte.
     * @return false if the client's memory is not there any more.
     */
    public boolean store(long offset, long length) {
        return memory.write(address + offset, clientAddress + offset, length);
    }

    /**
     * Copies bytes for a peer's read.
     *
     * @param offset of the first byte.
     * @param dest   native address.
     * @return false if the client's memory is not there any more.
     */
    public boolean read(long offset, long dest, long length) {
        return memory.read(clientAddress + offset, dest, length);
    }

    /**
     * Places bytes of a peer's write.
     *
     * @param offset of the first byte.
     * @param source native address.
     * @return false if the client's memory is not there any more.
     */
    public boolean write(long offset, long source, long length) {
        return memory.write(source, clientAddress + offset, length);
    }

    /** How peers name the region. */
    public RegionKey key() {
        return key;
    }

    /** The syncs of a persistent region. Returns null for other regions. */
    public RegionSync sync() {
        return sync;
    }

    /** Makes the region persistent, before it is used. */
    public void sync(RegionSync newSync) {
        sync = newSync;
    }

    /**
     * The counters and endpoints that the region is bound to. Returns null if peers of all endpoints of its domain may
     * access it and nothing counts these accesses.
     */
    public RegionBinding binding() {
        return binding;
    }

    /**
     * Replaces the binding.
     *
     * @param newBinding {@link RegionBinding#DISABLED} until the region is enabled.
     */
    public void bind(RegionBinding newBinding) {
        binding = newBinding;
    }

    /** Counts no more accesses there. */
    public void unbind(AccessCounter counter) {
        if (binding != null) {
            binding = binding.without(counter);
        }
    }

    /** Number of the region's file, from 1, or 0 if no other driver can map it. */
    public long number() {
        return number;
    }

    /** Generation of the region. Returns all 64 bits; addresses carry the lowest 8. */
    public long generation() {
        return generation;
    }

    /** Address of the first byte in this process; if {@link #isCopied()}, of its copy. Returns the native address. */
    public long address() {
        return address;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** Operations that hold the region. Returns 0 or more. */
    public int useCount() {
        return useCount;
    }

    /** Checks whether new operations may no longer use the region. Returns true after {@link #close()}. */
    public boolean isClosed() {
        return closed;
    }

    /**
     * Whether a card may access the memory for peers, without the driver.
     *
     * @return true between {@link #exposed()} and {@link #concealed()}; any thread.
     */
    public boolean isExposed() {
        return exposures != 0;
    }

    /** A card has taken the region. */
    public void exposed() {
        // the progress agent is the only writer
        exposures = exposures + 1;
    }

    /** That card does not access it any more. */
    public void concealed() {
        exposures = exposures - 1;
    }

    /** Takes a reference, for an operation that outlives its posting call. */
    public void retain() {
        useCount++;
    }

    /** Gives back a reference, after the operation that used the region has ended. */
    public void release() {
        if (--useCount == 0 && closed) {
            release.run();
        }
    }

    /** Ends the right of peers to read their own mapping of the file: they check the word after each read. */
    private void revoke() {
        if (header != 0 && key.access() != 0) {
            try {
                UnsafeApi.putLongOpaque(null, header + MemoryRegionDescriptor.CLOSED_OFFSET, 1);
                // before whatever the application writes to its memory from now on
                UnsafeApi.fullFence();
                FaultPoint.pass();
            } catch (InternalError ex) {
                // the file was truncated, so that no peer can read from it any more
                return;
            }
        }
    }

    /** Refuses new operations; the mapping is released after the last operation that uses it. */
    public void close() {
        if (!closed) {
            closed = true;
            revoke();
            if (useCount == 0) {
                release.run();
            }
        }
    }
}
