package org.jfabric.driver;

import org.agrona.ErrorHandler;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.DistinctErrorLog;
import org.agrona.concurrent.status.CountersManager;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.resource.SystemCounter;
import org.jfabric.driver.resource.SystemCounters;
import org.jfabric.ffi.MappedFile;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The driver's {@code cnc} file: identity, the words for sleepers, counters and the log of distinct errors.
 *
 * <p>Written by the driver only; nothing is decided by what is read back. Errors may be recorded by any thread.
 */
final class CncFile implements ErrorHandler, AutoCloseable {
    private static final int CHARACTERS = 4096;

    private final MappedFile file;
    private final CountersManager countersManager;
    private final SystemCounters counters;
    private final DistinctErrorLog errorLog;
    private final PrintStream overflow;
    private boolean closed;

    /**
     * Makes the file.
     *
     * @param directory of the driver.
     * @param owner     identity of the driver.
     * @param config    lengths and threading mode.
     * @param overflow  for errors that the log has no room for.
     */
    CncFile(DriverDirectory directory, OwnerId owner, DriverConfig config, PrintStream overflow) {
        this.overflow = overflow;
        int valuesLength = config.cnc().countersLengthBytes();
        int metadataLength = valuesLength * CncDescriptor.METADATA_TO_VALUES_RATIO;
        int errorLength = config.cnc().errorLogLengthBytes();
        int length = CncDescriptor.fileLength(valuesLength, errorLength);
        file = MappedFile.create(directory.fd(), CncDescriptor.FILE_NAME, length);
        UnsafeBuffer header = file.buffer(0, CncDescriptor.METADATA_OFFSET);
        EpochClock clock = SystemEpochClock.INSTANCE;
        header.putLong(FileHeaderDescriptor.PARAMETER_1_OFFSET, clock.time(), LITTLE_ENDIAN);
        header.putInt(CncDescriptor.MAY_PARK_OFFSET, config.threading().mode().mayPark() ? 1 : 0, LITTLE_ENDIAN);
        header.putLong(CncDescriptor.PID_OFFSET, ProcessHandle.current().pid(), LITTLE_ENDIAN);
        header.putInt(CncDescriptor.METADATA_LENGTH_OFFSET, metadataLength, LITTLE_ENDIAN);
        header.putInt(CncDescriptor.VALUES_LENGTH_OFFSET, valuesLength, LITTLE_ENDIAN);
        header.putInt(CncDescriptor.ERROR_LOG_LENGTH_OFFSET, errorLength, LITTLE_ENDIAN);
        int offset = CncDescriptor.METADATA_OFFSET;
        UnsafeBuffer metadata = file.buffer(offset, metadataLength);
        UnsafeBuffer values = file.buffer(offset + metadataLength, valuesLength);
        UnsafeBuffer errors = file.buffer(offset + metadataLength + valuesLength, errorLength);
        countersManager = new CountersManager(metadata, values, StandardCharsets.UTF_8);
        counters = new SystemCounters(countersManager);
        errorLog = new DistinctErrorLog(errors, clock, StandardCharsets.UTF_8);
        FileHeaderDescriptor.write(
            header, FileType.CNC, 0, 0, owner, 1, length - (long) FileHeaderDescriptor.HEADER_LENGTH);
        UnsafeApi.fullFence();
    }

    long address() {
        return file.address();
    }

    CountersManager countersManager() {
        return countersManager;
    }

    SystemCounters counters() {
        return counters;
    }

    @Override
    public synchronized void onError(Throwable error) {
        if (closed) {
            error.printStackTrace(overflow);
            return;
        }
        counters.add(SystemCounter.ERRORS, 1);
        if (!errorLog.record(error)) {
            String text = error.toString();
            overflow.println(Instant.now() + " error log is full: "
                + (text.length() > CHARACTERS ? text.substring(0, CHARACTERS) : text));
        }
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            file.close();
        }
    }
}
