package org.jfabric.client.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.codec.log.LogStateDecoder;
import org.jfabric.codec.log.LogStateEncoder;
import org.jfabric.ffi.Libc;
import org.jfabric.layout.LogDescriptor;

/**
 * How far a log is, as its file {@code log} says. The writer writes it behind the records that it counts, so that a
 * reader never meets a record that is being written.
 *
 * <p>What it says of the page cache holds for one run of the system only: after a power cut anything written since the
 * last sync may be there or not.
 */
public final class LogState {
    /** Bytes in the file. */
    public static final int LENGTH = LogStateEncoder.BLOCK_LENGTH;

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
    /** A reader may meet a state that is being written. */
    private static final int TRIES = 1000;

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH);
    private final UnsafeBuffer buffer = new UnsafeBuffer(bytes);
    private final LogStateEncoder encoder = new LogStateEncoder().wrap(buffer, 0);
    private final LogStateDecoder decoder =
        new LogStateDecoder().wrap(buffer, 0, LENGTH, LogStateDecoder.SCHEMA_VERSION);
    private final CRC32C crc = new CRC32C();
    private final UUID boot = bootId();
    private boolean isValid;

    /** Reads it again. Returns 0, or {@code -EIO} if the file cannot be read; see {@link #isValid()}. */
    public int read(int fd) {
        for (int i = 0; i < TRIES; i++) {
            long count = Libc.readFully(fd, buffer.addressOffset(), LENGTH, LogDescriptor.STATE_OFFSET);
            if (count < 0) {
                return (int) count;
            }
            isValid = count == LENGTH && (int) decoder.checksum() == checksum();
            if (isValid) {
                return 0;
            }
            Thread.onSpinWait();
        }
        return 0;
    }

    /** Whether the bytes that were read are what a writer has written. */
    public boolean isValid() {
        return isValid;
    }

    /** Whether a log was not closed: it has a writer, or had one that was killed. */
    public boolean isOpen() {
        return decoder.isOpen() != 0;
    }

    /** The position behind the last one that is in the page cache. */
    public long written() {
        return decoder.written();
    }

    /** The position behind the last one that is on stable storage. */
    public long synced() {
        return decoder.synced();
    }

    /** The first position that was not given up. */
    public long oldest() {
        return decoder.oldest();
    }

    /** The term that the last writer has begun or continued. */
    public int term() {
        return (int) decoder.term();
    }

    /** Process of the last writer. */
    public long pid() {
        return decoder.pid();
    }

    /** Whether all positions below {@link #written()} must be there: the page cache is still that of the writer. */
    public boolean isExact() {
        return isValid && (!isOpen() || decoder.bootIdHigh() == boot.getMostSignificantBits()
            && decoder.bootIdLow() == boot.getLeastSignificantBits());
    }

    /** Records below this position are whole, or somebody has changed them. */
    public long trusted() {
        return isExact() ? written() : isValid ? synced() : 0;
    }

    /** Makes it the state of an open or closed log of this process. */
    public void begin(boolean isOpen, int term, long oldest) {
        encoder.isOpen(isOpen ? 1 : 0).term(term).oldest(oldest)
            .bootIdHigh(boot.getMostSignificantBits()).bootIdLow(boot.getLeastSignificantBits())
            .pid(ProcessHandle.current().pid());
        isValid = true;
    }

    /** Changes how far the log is. */
    public void set(long written, long synced, long oldest) {
        encoder.written(written).synced(synced).oldest(oldest);
    }

    /** Completes the bytes. Returns their native address. */
    public long seal() {
        encoder.checksum(Integer.toUnsignedLong(checksum()));
        return buffer.addressOffset();
    }

    private int checksum() {
        return LogDescriptor.checksum(crc, bytes, LogDescriptor.CHECKED, LENGTH);
    }

    private static UUID bootId() {
        try {
            return UUID.fromString(Files.readString(BOOT_ID).strip());
        } catch (IOException | IllegalArgumentException unknown) {
            // a run of its own: only what was synced is trusted then
            return UUID.randomUUID();
        }
    }
}
