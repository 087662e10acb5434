package org.jfabric.driver.link.shm;

import org.jfabric.codec.wire.HelloDecoder;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.PeerFile;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;
import org.jfabric.layout.RecordProducer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * A {@code .ring} file: the records that its driver sends, and that driver's read position in the reverse ring.
 *
 * <pre>
 *    our file                        peer's file (read-only here)
 *    128  our read position   ---->  read by the peer: end of its records that were consumed here
 *    512  our records         ---->  read by the peer
 * </pre>
 *
 * <p>A new ring has memory for a few records, and gets more when these were sent: many pairs of drivers exchange few.
 */
final class ShmRing {
    /** Three pages with the header: 64 short messages. */
    private static final int SMALL_LENGTH = 8192;

    private ShmRing() {
    }

    /** Makes this side's ring; resource thread. */
    static MappedFile create(Environment environment, int directoryFd, long number, int length, OwnerId owner) {
        MappedFile file = environment.createFile(
            directoryFd, FileType.RING.fileName(number), RecordRingDescriptor.HEADER_LENGTH + (long) length,
            usedBytes(firstLength(length)));
        FileHeaderDescriptor.write(
            file.buffer(0, FileHeaderDescriptor.HEADER_LENGTH),
            FileType.RING,
            HelloDecoder.SCHEMA_ID,
            owner,
            number,
            length);
        file.populate(usedBytes(firstLength(length)));
        return file;
    }

    /** Bytes of records that a new ring has memory for. The padding behind has a length of 24 bits. */
    static int firstLength(int length) {
        return length - SMALL_LENGTH <= RecordRingDescriptor.MAX_LENGTH ? Math.min(length, SMALL_LENGTH) : length;
    }

    /** Bytes of the file that are written while the first bytes of records are used. */
    static long usedBytes(int recordsLength) {
        return RecordRingDescriptor.HEADER_LENGTH + (long) recordsLength + RecordProducer.WRITTEN_BEHIND;
    }

    /** Opens the peer's ring read-only, after checking the ring's number, length and header; resource thread. */
    static MappedFile open(Environment environment, int peerDirectoryFd, ShmHello hello) {
        if (!RecordRingDescriptor.isValidCapacity(hello.ringLength()) || hello.ringNumber() <= 0) {
            throw new FabricException(
                FabricErrno.EIO, "peer driver " + hello.driverName() + " offers ring " + hello.ringNumber() + " of "
                + hello.ringLength() + " bytes, which is invalid");
        }
        String name = FileType.RING.fileName(hello.ringNumber());
        MappedFile file = environment.openFile(
            peerDirectoryFd, name, RecordRingDescriptor.HEADER_LENGTH + (long) hello.ringLength());
        PeerFile.verify(file, FileType.RING, hello.owner(), hello.driverName(), name);
        // more would take memory for what is not used yet
        file.populate(usedBytes(firstLength(hello.ringLength())));
        return file;
    }

    /** Deletes the name of this side's ring; the peer's mapping stays valid. */
    static void delete(int directoryFd, long number) {
        Libc.unlinkat(directoryFd, FileType.RING.fileName(number));
    }
}
