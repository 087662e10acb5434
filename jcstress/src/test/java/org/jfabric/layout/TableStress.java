package org.jfabric.layout;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.lang.foreign.MemorySegment;
import org.agrona.UnsafeApi;
import org.jfabric.stress.NativeMemory;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** A table: its writer and a reader that copies what is written. */
public final class TableStress {
    private static final int VALUE_LENGTH = 64;

    private TableStress() {
    }

    /** A table of one key, which lives as long as the tests: its words are written again and again. */
    private static final class Table {
        static final Table ONE = new Table();

        private final ThreadLocal<TableConsumer> readers;
        private final ThreadLocal<byte[]> copies = ThreadLocal.withInitial(() -> new byte[VALUE_LENGTH]);
        private final byte[] value = new byte[VALUE_LENGTH];
        private final TableProducer writer;

        Table() {
            int length = (int) TableDescriptor.fileLength(1, VALUE_LENGTH);
            MemorySegment memory = NativeMemory.segment(NativeMemory.allocate(length), length);
            writer = new TableProducer(memory, 1, VALUE_LENGTH);
            readers = ThreadLocal.withInitial(() -> new TableConsumer(memory, 1, VALUE_LENGTH));
            put();
        }

        synchronized void put() {
            long next = writer.version() + 1;
            for (int i = 0; i < VALUE_LENGTH; i += Long.BYTES) {
                UnsafeApi.putLong(value, UnsafeApi.arrayBaseOffset(byte[].class) + i, next);
            }
            writer.put(7, value, UnsafeApi.arrayBaseOffset(byte[].class), VALUE_LENGTH);
        }

        /** The version that all words of the value have; 0 if they differ, or are not of the version beside them. */
        long read() {
            TableConsumer reader = readers.get();
            byte[] copy = copies.get();
            int length = reader.read(
                1L << Integer.SIZE, copy, UnsafeApi.arrayBaseOffset(byte[].class), VALUE_LENGTH);
            long first = UnsafeApi.getLong(copy, UnsafeApi.arrayBaseOffset(byte[].class));
            boolean same = length == VALUE_LENGTH && first == reader.seenVersion();
            for (int i = 0; i < VALUE_LENGTH; i += Long.BYTES) {
                same &= UnsafeApi.getLong(copy, UnsafeApi.arrayBaseOffset(byte[].class) + i) == first;
            }
            return same ? first : 0;
        }
    }

    /** What a reader takes is of one change. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The value is whole.")
    @Outcome(expect = FORBIDDEN, desc = "The value is of two changes.")
    @State
    public static class ValueIsWhole {
        private final Table table = Table.ONE;

        @Actor
        public void write() {
            table.put();
            table.put();
            table.put();
        }

        @Actor
        public void read(I_Result result) {
            result.r1 = table.read() != 0 ? 1 : 0;
        }
    }

    /** Who has seen a version of the table finds its value, or a newer one. */
    @JCStressTest
    @Outcome(id = "1", expect = ACCEPTABLE, desc = "The value is that of the version, or newer.")
    @Outcome(expect = FORBIDDEN, desc = "The value is older than the version.")
    @State
    public static class ValueIsOfItsVersion {
        private final Table table = Table.ONE;

        @Actor
        public void write() {
            table.put();
        }

        @Actor
        public void read(I_Result result) {
            long version = table.readers.get().version();
            result.r1 = table.read() >= version ? 1 : 0;
        }
    }
}
