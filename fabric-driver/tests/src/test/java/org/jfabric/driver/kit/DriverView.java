package org.jfabric.driver.kit;

import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.ErrorLogReader;
import org.agrona.concurrent.status.CountersReader;
import org.jfabric.ffi.Libc;
import org.jfabric.ffi.MappedFile;
import org.jfabric.layout.CncDescriptor;
import org.jfabric.layout.WaitLabel;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/** What anybody can see of a driver from outside: its counters and its distinct error log. */
public final class DriverView implements AutoCloseable {
    private final MappedFile cnc;
    private final int metadata;
    private final int values;
    private final int errors;

    public DriverView(Path directory) {
        int fd = Libc.openDirectory(directory);
        try {
            cnc = MappedFile.open(fd, CncDescriptor.FILE_NAME, true, CncDescriptor.METADATA_OFFSET);
        } finally {
            Libc.close(fd);
        }
        var header = cnc.directBuffer(0, CncDescriptor.METADATA_OFFSET);
        metadata = header.getInt(CncDescriptor.METADATA_LENGTH_OFFSET, LITTLE_ENDIAN);
        values = header.getInt(CncDescriptor.VALUES_LENGTH_OFFSET, LITTLE_ENDIAN);
        errors = header.getInt(CncDescriptor.ERROR_LOG_LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    /** The values by their labels as {@code ./fabric stat} shows them. */
    public Map<String, Long> counters() {
        Map<String, Long> result = new TreeMap<>();
        new CountersReader(
            readable(CncDescriptor.METADATA_OFFSET, metadata),
            readable(CncDescriptor.METADATA_OFFSET + (long) metadata, values))
            .forEach((value, id, label) -> result.put(WaitLabel.readable(label), value));
        return result;
    }

    public long counter(String label) {
        Long value = counters().get(label);
        if (value == null) {
            throw new AssertionError("no counter \"" + label + "\" in " + counters());
        }
        return value;
    }

    public List<String> errors() {
        List<String> result = new ArrayList<>();
        ErrorLogReader.read(
            readable(CncDescriptor.METADATA_OFFSET + (long) metadata + values, errors),
            (count, first, last, text) -> result.add(count + " times: " + text));
        return result;
    }

    /** What is in the error log was meant to be there: not an exception that somebody forgot to think of. */
    public void assertExplained() {
        for (String error : errors()) {
            if (!error.matches("(?s)\\d+ times: org\\.jfabric\\.info\\.FabricException: .*")) {
                throw new AssertionError("not explained: " + error);
            }
        }
    }

    private UnsafeBuffer readable(long offset, int length) {
        return new UnsafeBuffer(cnc.directBuffer(offset, length));
    }

    @Override
    public void close() {
        cnc.close();
    }
}
