package org.jfabric.driver.stream;

import java.util.Arrays;
import org.agrona.UnsafeApi;
import org.jfabric.codec.wire.HelloDecoder;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.PeerFile;
import org.jfabric.driver.resource.UnmapTask;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.GroupRingDescriptor;
import org.jfabric.layout.OwnerId;

/**
 * A mapped {@code .group} file, and the members of this driver that read it. It stays mapped while the group's writer
 * or a member uses it.
 *
 * <p>When all members have read everything, the end of the records is the one word that a poll reads, however many
 * members there are: with a driver in mode INVOKER each of them polls all of them.
 *
 * <p>Owner: progress agent; the static methods run on the resource thread.
 */
final class GroupRing {
    private final LinkServices services;
    private final MappedFile file;
    private final long number;
    private final long header;
    private final long records;
    private final int capacity;
    private int uses;
    /** Of its second name in this driver's directory, by which clients open it; 0 before one reads in place. */
    private long clientNumber;
    private long touched;
    /** Replaced by each change, because a step may begin or end memberships. */
    private GroupMember[] members = {};
    /** All members have read up to {@link #settledAt}, and wait for nothing but messages. */
    private boolean isSettled;
    private long settledAt;

    GroupRing(LinkServices services, MappedFile file, long number, int capacity) {
        this.services = services;
        this.file = file;
        this.number = number;
        this.header = file.address();
        this.records = header + GroupRingDescriptor.HEADER_LENGTH;
        this.capacity = capacity;
    }

    static MappedFile create(
        Environment environment, int directoryFd, long number, int capacity, OwnerId owner, LogPosition first) {
        MappedFile file = environment.createFile(
            directoryFd, FileType.GROUP.fileName(number), GroupRingDescriptor.HEADER_LENGTH + (long) capacity);
        FileHeaderDescriptor.write(
            file.buffer(0, FileHeaderDescriptor.HEADER_LENGTH), FileType.GROUP, HelloDecoder.SCHEMA_ID,
            owner, number, capacity);
        long header = file.address();
        UnsafeApi.putLong(header + GroupRingDescriptor.LOG_ID_OFFSET, first.logId().getMostSignificantBits());
        UnsafeApi.putLong(
            header + GroupRingDescriptor.LOG_ID_OFFSET + Long.BYTES, first.logId().getLeastSignificantBits());
        UnsafeApi.putInt(header + GroupRingDescriptor.TERM_OFFSET, first.term());
        UnsafeApi.putLong(header + GroupRingDescriptor.FIRST_POSITION_OFFSET, first.position());
        UnsafeApi.putLong(header + GroupRingDescriptor.KEY_OFFSET, environment.randomLong() | Long.MIN_VALUE);
        file.populate();
        return file;
    }

    /** Maps the file of a group of another driver, after checking length and header. */
    static MappedFile open(int directoryFd, long number, int capacity, OwnerId owner, String driverName) {
        String name = FileType.GROUP.fileName(number);
        MappedFile file = MappedFile.open(
            directoryFd, name, true, GroupRingDescriptor.HEADER_LENGTH + (long) capacity);
        PeerFile.verify(file, FileType.GROUP, owner, driverName, name);
        file.populate();
        return file;
    }

    /** Whether the ring is one of a term of a log, and has had a message or will have it. */
    boolean isOf(LogPosition place) {
        return UnsafeApi.getLong(header + GroupRingDescriptor.LOG_ID_OFFSET)
                == place.logId().getMostSignificantBits()
            && UnsafeApi.getLong(header + GroupRingDescriptor.LOG_ID_OFFSET + Long.BYTES)
                == place.logId().getLeastSignificantBits()
            && UnsafeApi.getInt(header + GroupRingDescriptor.TERM_OFFSET) == place.term()
            && place.position() - UnsafeApi.getLong(header + GroupRingDescriptor.FIRST_POSITION_OFFSET) >= 0;
    }

    long number() {
        return number;
    }

    int capacity() {
        return capacity;
    }

    /** Native address of the file's header. */
    long header() {
        return header;
    }

    long key() {
        return UnsafeApi.getLong(header + GroupRingDescriptor.KEY_OFFSET);
    }

    /** Native address of the record at an offset. */
    long record(long offset) {
        return records + (offset & capacity - 1);
    }

    /** Bytes from the record at an offset to the end of the ring. */
    int toEnd(long offset) {
        return capacity - (int) (offset & capacity - 1);
    }

    /** End of the records that are written; all of them can be read after this call. */
    long tail() {
        return UnsafeApi.getLongAcquire(null, header + GroupRingDescriptor.TAIL_OFFSET);
    }

    // ---- reading ----

    /** Adds a member that reads from now on; returns whether it is the first one. */
    boolean add(GroupMember member) {
        members = Arrays.copyOf(members, members.length + 1);
        members[members.length - 1] = member;
        unsettle();
        return members.length == 1;
    }

    /** Removes a member; returns whether there is no other one. */
    boolean remove(GroupMember member) {
        members = Arrays.stream(members).filter(other -> other != member).toArray(GroupMember[]::new);
        return members.length == 0;
    }

    /** A member has something to do although no message was written. */
    void unsettle() {
        isSettled = false;
    }

    /**
     * Has the members take messages.
     *
     * @param limit largest number for each of them.
     * @return number of messages taken and steps made; 0 if there was nothing to do.
     */
    int poll(int limit) {
        GroupMember[] reading = members;
        if (reading.length == 0) {
            // an earlier step of this cycle has removed the last one, and the file may be unmapped
            return 0;
        }
        try {
            long tail = tail();
            if (isSettled) {
                if (tail == settledAt) {
                    return 0;
                }
                isSettled = false;
            }
            int work = 0;
            for (int i = 0; i < reading.length; i++) {
                work += reading[i].poll(limit, tail);
            }
            if (work == 0) {
                settle(tail);
            }
            return work;
        } catch (InternalError e) {
            // a client of this driver may be the cause too; the progress agent handles that
            if (isCut()) {
                for (GroupMember member : reading) {
                    member.onTruncated();
                }
            }
            throw e;
        }
    }

    private void settle(long tail) {
        boolean settles = true;
        for (GroupMember member : members) {
            settles &= member.isSettled(tail);
        }
        settledAt = tail;
        isSettled = settles;
    }

    /** Reads the last bytes: raises a fault if the file was truncated. */
    void touch() {
        // kept, because the second compiler leaves a load out whose value nothing needs, also a volatile one
        touched = UnsafeApi.getLongVolatile(null, records + capacity - Long.BYTES);
    }

    boolean isCut() {
        return file.isCut();
    }

    GroupRing retain() {
        uses++;
        return this;
    }

    /** The last one unmaps the file, later, on the resource thread. */
    void release() {
        if (--uses == 0) {
            if (clientNumber != 0) {
                Libc.unlinkat(services.directoryFd(), FileType.GROUP.fileName(clientNumber));
            }
            services.submit(new UnmapTask(file));
        }
    }

    /**
     * Gives the file a name in this driver's directory, if it has none, for clients that read it in place: the first
     * one is gone when the writer leaves, or is in another driver's directory. Returns its number, or a negative errno.
     *
     * @param directoryFd of the writer's driver.
     */
    long openToClients(int directoryFd) {
        if (clientNumber == 0) {
            long free = services.nextFileNumber();
            int result = Libc.linkat(directoryFd, FileType.GROUP.fileName(number),
                services.directoryFd(), FileType.GROUP.fileName(free));
            if (result != 0) {
                return result;
            }
            clientNumber = free;
        }
        return clientNumber;
    }

    /** Deletes the name of a ring of this driver; the mappings of readers stay valid. */
    void delete() {
        Libc.unlinkat(services.directoryFd(), FileType.GROUP.fileName(number));
    }

    /** Deletes a ring of this driver that nothing uses. */
    void discard() {
        delete();
        retain().release();
    }
}
