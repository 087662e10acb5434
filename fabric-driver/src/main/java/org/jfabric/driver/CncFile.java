package org.jfabric.driver;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import org.agrona.ErrorHandler;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.driver.config.CncConfig;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.EffectiveValue;
import org.jfabric.driver.config.Origin;
import org.jfabric.driver.config.ThreadingConfig;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.driver.resource.Environment;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.OwnerId;

/**
 * The driver's {@code cnc} file: identity, the words for sleeping threads, counters and the log of distinct errors.
 *
 * <p>Written by the driver only; the driver does not rely on its contents. Errors may be recorded by any thread.
 */
final class CncFile implements ErrorHandler, AutoCloseable {
    private static final int CHARACTERS = 4096;
    private static final long PRINT_INTERVAL_NS = 1_000_000_000L;

    private final MappedFile file;
    /**
     * Descriptor of the file: its name may be given to another file, and a truncated mapping cannot extend the file.
     */
    private final int fd;
    private final UnsafeBuffer errors;
    private final EpochClock clock;
    private final CountersManager countersManager;
    private final SystemCounters counters;
    private final PrintStream overflow;
    private final Environment environment;
    private DistinctErrors errorLog;
    /** Header and counters' names, for the restoration of a truncated file; null until {@link #keep()}. */
    private byte[] kept;
    private boolean closed;
    /** Lines for errors that the log had no room for, the time of the last one, and errors without a line since. */
    private long printed;
    private long printedNs;
    private long unprinted;

    /**
     * Makes the file.
     *
     * @param directory of the driver.
     * @param owner     identity of the driver.
     * @param config    lengths and threading mode.
     * @param overflow  for errors that the log has no room for.
     * @param environment gets the errors as well; has the time and makes the file.
     */
    CncFile(DriverDirectory directory, OwnerId owner, DriverConfig config, PrintStream overflow,
        Environment environment) {
        this.overflow = overflow;
        this.environment = environment;
        this.clock = environment::currentTimeMillis;
        int valuesLength = config.get(CncConfig.COUNTERS_LENGTH_BYTES);
        int metadataLength = valuesLength * CncDescriptor.METADATA_TO_VALUES_RATIO;
        int errorLength = config.get(CncConfig.ERROR_LOG_LENGTH_BYTES);
        int length = CncDescriptor.fileLength(valuesLength, errorLength);
        file = environment.createFile(directory.fd(), CncDescriptor.FILE_NAME, length);
        fd = Libc.openat(directory.fd(), CncDescriptor.FILE_NAME,
            Libc.O_RDWR | Libc.O_NOFOLLOW | Libc.O_CLOEXEC, 0);
        if (fd < 0) {
            file.close();
            throw new NativeCallException("openat", -fd, file.path());
        }
        UnsafeBuffer header = file.buffer(0, CncDescriptor.METADATA_OFFSET);
        header.putLong(FileHeaderDescriptor.PARAMETER_1_OFFSET, clock.time(), LITTLE_ENDIAN);
        header.putInt(CncDescriptor.MAY_PARK_OFFSET, mayPark(config.get(ThreadingConfig.MODE)), LITTLE_ENDIAN);
        header.putLong(CncDescriptor.PID_OFFSET, ProcessHandle.current().pid(), LITTLE_ENDIAN);
        header.putInt(CncDescriptor.METADATA_LENGTH_OFFSET, metadataLength, LITTLE_ENDIAN);
        header.putInt(CncDescriptor.VALUES_LENGTH_OFFSET, valuesLength, LITTLE_ENDIAN);
        header.putInt(CncDescriptor.ERROR_LOG_LENGTH_OFFSET, errorLength, LITTLE_ENDIAN);
        int offset = CncDescriptor.METADATA_OFFSET;
        UnsafeBuffer metadata = file.buffer(offset, metadataLength);
        UnsafeBuffer values = file.buffer(offset + metadataLength, valuesLength);
        errors = file.buffer(offset + metadataLength + valuesLength, errorLength);
        countersManager = new CountersManager(metadata, values, StandardCharsets.UTF_8);
        counters = new SystemCounters(countersManager);
        showOptions(config);
        errorLog = new DistinctErrors(errors, clock);
        FileHeaderDescriptor.write(
            header, FileType.CNC, 0, owner, 1, length - (long) FileHeaderDescriptor.HEADER_LENGTH);
        UnsafeApi.fullFence();
    }

    /** Shows the options that were set, for tools; one that was not set has its default. */
    private void showOptions(DriverConfig config) {
        for (EffectiveValue value : config.effectiveValues()) {
            if (value.origin() != Origin.DEFAULT) {
                int id = countersManager.allocate(MetricLabel.text("jfabric_option", "name", value.option().name(),
                    "value", value.text(), "origin", value.where()), MetricLabel.INFO);
                countersManager.setCounterValue(id, 1);
            }
        }
    }

    long address() {
        return file.address();
    }

    CountersManager countersManager() {
        return countersManager;
    }

    /** A reader of its own for another thread, valid until the file is closed. */
    CountersReader countersReader() {
        return new CountersReader(
            countersManager.metaDataBuffer(), countersManager.valuesBuffer(), StandardCharsets.UTF_8);
    }

    SystemCounters counters() {
        return counters;
    }

    /** The driver may sleep from now on, which its mode alone does not say. */
    synchronized void setMayPark() {
        file.buffer().putInt(CncDescriptor.MAY_PARK_OFFSET, CncDescriptor.PARKS, LITTLE_ENDIAN);
        new UnsafeBuffer(kept).putInt(CncDescriptor.MAY_PARK_OFFSET, CncDescriptor.PARKS, LITTLE_ENDIAN);
        UnsafeApi.fullFence();
    }

    private static int mayPark(ThreadingMode mode) {
        return mode.mayPark() ? CncDescriptor.PARKS : mode.isManualProgress() ? CncDescriptor.MAY_PARK : 0;
    }

    /** Keeps a copy of the header and of the names of the existing counters, for {@link #repair()}. */
    void keep() {
        byte[] bytes = new byte[CncDescriptor.METADATA_OFFSET + countersManager.metaDataBuffer().capacity()];
        file.buffer().getBytes(0, bytes);
        Arrays.fill(bytes, CncDescriptor.PARKED_OFFSET, CncDescriptor.PARKED_OFFSET + Integer.BYTES, (byte) 0);
        kept = bytes;
    }

    /**
     * Restores the file's length if it was truncated: clients and tools that have it mapped continue. Counts and logged
     * errors are lost, and so are the names of counters that were made later. Any thread.
     *
     * @return true if it was cut.
     */
    synchronized boolean repair() {
        if (closed || kept == null || !file.isCut()) {
            return false;
        }
        int result = Libc.reserve(fd, 0, file.lengthBytes());
        if (result < 0) {
            overflow.println(Instant.now() + " " + file.path() + " was cut and cannot be made whole again: "
                + FabricErrno.describe(-result));
            return false;
        }
        // the magic last: a reader that finds it finds everything
        UnsafeBuffer whole = file.buffer();
        int magic = FileHeaderDescriptor.MAGIC_OFFSET + Long.BYTES;
        whole.putBytes(magic, kept, magic, kept.length - magic);
        errorLog = new DistinctErrors(errors, clock);
        UnsafeApi.fullFence();
        whole.putBytes(0, kept, 0, magic);
        return true;
    }

    @Override
    public synchronized void onError(Throwable error) {
        environment.onError(error);
        if (closed) {
            error.printStackTrace(overflow);
            return;
        }
        boolean recorded = false;
        try {
            counters.add(SystemCounter.ERRORS, 1);
            recorded = errorLog.record(error);
            FaultPoint.pass();
        } catch (InternalError cut) {
            // the next cycle of an agent restores the file; nothing may be thrown from here
            error.addSuppressed(cut);
        }
        if (!recorded) {
            print(error);
        }
    }

    /** Prints an error that the log has no room for; a line a second at most, because one that repeats may be fast. */
    private void print(Throwable error) {
        long nowNs = environment.nanoTime();
        if (printed != 0 && nowNs - printedNs < PRINT_INTERVAL_NS) {
            unprinted++;
            return;
        }
        String text = error.toString();
        overflow.println(Instant.now() + " error log is full or cut"
            + (unprinted == 0 ? "" : " (" + unprinted + " errors more since the last line)") + ": "
            + (text.length() > CHARACTERS ? text.substring(0, CHARACTERS) : text));
        printed++;
        unprinted = 0;
        printedNs = nowNs;
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            file.close();
            Libc.close(fd);
        }
    }
}
