package org.jfabric.driver.resource;

import org.agrona.collections.LongHashSet;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the files that the driver shares with its clients, and keeps a list of those that are mapped.
 *
 * <p>Any thread; making and unmapping files takes time and belongs to the resource thread.
 */
public final class SharedFiles {
    /** A client with a truncated file. */
    public record Cut(long clientId, String reason) {
    }

    private final int directoryFd;
    private final OwnerId owner;
    private final SystemCounters counters;
    private final Environment environment;
    private final AtomicLong lastNumber = new AtomicLong();
    private final Map<Long, SharedFile> fileByNumber = new ConcurrentHashMap<>();

    public SharedFiles(int directoryFd, OwnerId owner, SystemCounters counters, Environment environment) {
        this.directoryFd = directoryFd;
        this.owner = owner;
        this.counters = counters;
        this.environment = environment;
    }

    /** Descriptor of the directory, open while the driver runs. */
    public int directoryFd() {
        return directoryFd;
    }

    /** Identity that stands in every file. */
    public OwnerId owner() {
        return owner;
    }

    /** Clock, random numbers and threads of the driver. */
    public Environment environment() {
        return environment;
    }

    /** A number for a new file, from 1; never twice. */
    public long nextNumber() {
        return lastNumber.incrementAndGet();
    }

    /**
     * Creates a file for a client; its name is published later.
     *
     * @param number      from {@link #nextNumber()}.
     * @param schemaId    SBE schema of its records, 0 for none.
     * @throws org.jfabric.ffi.NativeCallException if there is no room, with the numbers.
     */
    public SharedFile create(
        long clientId,
        long number,
        FileType type,
        int schemaId,
        long lengthBytes,
        long dataLength,
        long parameter1,
        long parameter2) {
        return create(clientId, number, number, type, schemaId, lengthBytes, dataLength, parameter1, parameter2);
    }

    /**
     * Makes a file for registered memory.
     *
     * @param number      from {@link #nextNumber()}.
     * @param generation  from {@link #randomGeneration()}.
     * @throws org.jfabric.ffi.NativeCallException if there is no room, with the numbers.
     */
    public SharedFile createRegion(long clientId, long number, long generation, long lengthBytes, long dataLength) {
        return create(clientId, number, generation, FileType.MEMORY_REGION, 0, lengthBytes, dataLength, 0, 0);
    }

    /**
     * Watches a file that a client has opened, for truncation. Returns the mapped file; it has no name in the
     * directory.
     */
    public SharedFile adopt(long clientId, MappedFile mapping) {
        SharedFile file = new SharedFile(
            this, clientId, nextNumber(), randomGeneration(), FileType.MEMORY_REGION, mapping);
        fileByNumber.put(file.number(), file);
        counters.add(SystemCounter.MAPPED_BYTES, mapping.lengthBytes());
        return file;
    }

    /** Finds a mapped file. Returns null if there is none. */
    public SharedFile find(long number) {
        return fileByNumber.get(number);
    }

    /**
     * Opens the driver's {@code cnc} or a group's ring, to be passed to a client that only reads it. Resource thread.
     *
     * @return descriptor, which the caller closes.
     * @throws NativeCallException if no descriptor is free.
     */
    public int openReadOnly(String name) {
        return open(name, Libc.O_RDONLY);
    }

    int open(String name, int flags) {
        int fd = Libc.openat(directoryFd, name, flags | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            throw new NativeCallException("openat", -fd, name + ", to be passed to a client");
        }
        return fd;
    }

    /**
     * Returns a generation that a later region in the same place will not have.
     *
     * @return random, never 0.
     */
    public long randomGeneration() {
        long generation;
        do {
            generation = environment.randomLong();
        } while (generation == 0);
        return generation;
    }

    /** Finds files that were truncated. */
    public List<Cut> inspect() {
        List<Cut> cuts = new ArrayList<>();
        LongHashSet seen = new LongHashSet();
        for (SharedFile file : fileByNumber.values()) {
            String reason = file.inspect();
            if (reason != null && seen.add(file.clientId())) {
                cuts.add(new Cut(file.clientId(), reason));
            }
        }
        return cuts;
    }

    /** Unmaps all files, whose names stay; nothing accesses them any more. */
    public void abandon() {
        fileByNumber.values().forEach(SharedFile::unmap);
    }

    void forget(SharedFile file) {
        if (fileByNumber.remove(file.number()) == null) {
            return;
        }
        try {
            counters.add(SystemCounter.MAPPED_BYTES, -file.lengthBytes());
            FaultPoint.pass();
        } catch (InternalError cut) {
            // an access to the counters' own file: the agents, which count there too, restore it with new counts; a
            // caller that closes several files has to close the others as well
        }
    }

    private SharedFile create(
        long clientId,
        long number,
        long generation,
        FileType type,
        int schemaId,
        long lengthBytes,
        long dataLength,
        long parameter1,
        long parameter2) {
        MappedFile mapping = environment.createFile(directoryFd, type.fileName(number), lengthBytes);
        var header = mapping.buffer(0, FileHeaderDescriptor.HEADER_LENGTH);
        header.putLong(FileHeaderDescriptor.PARAMETER_1_OFFSET, parameter1);
        header.putLong(FileHeaderDescriptor.PARAMETER_2_OFFSET, parameter2);
        FileHeaderDescriptor.write(header, type, schemaId, owner, generation, dataLength);
        SharedFile file = new SharedFile(this, clientId, number, generation, type, mapping);
        fileByNumber.put(number, file);
        counters.add(SystemCounter.MAPPED_BYTES, mapping.lengthBytes());
        return file;
    }
}
