package org.jfabric.driver.torture;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory of a receiver that its senders write, read and add to, in a file that outlives all of them. Each conversation
 * has a window of its own, so that the last accesses of a killed sender meet no other one:
 *
 * <pre>
 *      0             4096
 *   +---------+---+--------+--------+-----
 *   | counter |   | slot 0 | slot 1 | ...     a slot has one {@link Payload}
 *   +---------+---+--------+--------+-----
 * </pre>
 *
 * @param key          of the region; 0 if there is none.
 * @param address      that a peer adds offsets to.
 * @param isAtomic     whether its counter can be added to.
 */
record RemoteArea(long key, long address, boolean isAtomic) {
    static final RemoteArea NONE = new RemoteArea(0, 0, false);
    static final int SLOTS = 8;
    static final int SLOT_LENGTH = 1 << 14;

    private static final int WINDOWS = 16;
    private static final int SLOTS_OFFSET = 4096;
    private static final int WINDOW_LENGTH = SLOTS_OFFSET + SLOTS * SLOT_LENGTH;
    static final int LENGTH = WINDOWS * WINDOW_LENGTH;

    static Path path(Path folder, int worker) {
        return folder.resolve(worker + ".area");
    }

    boolean isThere() {
        return key != 0;
    }

    /** For a line of text, to be read by {@link #parse}. */
    String words() {
        return key + " " + address + ' ' + isAtomic;
    }

    static RemoteArea parse(String[] words, int first) {
        return new RemoteArea(Long.parseLong(words[first]), Long.parseLong(words[first + 1]),
            Boolean.parseBoolean(words[first + 2]));
    }

    /** Offset of the counter of a conversation. */
    static int counter(int conversation) {
        return conversation % WINDOWS * WINDOW_LENGTH;
    }

    static int slot(int conversation, int slot) {
        return counter(conversation) + SLOTS_OFFSET + slot * SLOT_LENGTH;
    }

    /** A conversation begins: what an earlier one has left there does not count. */
    static void clear(UnsafeBuffer area, int conversation) {
        area.setMemory(counter(conversation), WINDOW_LENGTH, (byte) 0);
    }

    /** What is in the file and contradicts the ledger of a conversation, or null. */
    static String fault(Path file, int conversation, Ledger ledger, boolean hasEnded) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return fault(new UnsafeBuffer(channel.map(FileChannel.MapMode.READ_ONLY, 0, LENGTH)), conversation, ledger,
                hasEnded);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * What is in the area and contradicts the ledger of a conversation, or null.
     *
     * @param hasEnded whether every access was confirmed; else the last ones may have happened or not.
     */
    static String fault(DirectBuffer area, int conversation, Ledger ledger, boolean hasEnded) {
        long value = area.getLong(counter(conversation));
        if (value < ledger.additionsConfirmed() || value > ledger.additionsPosted()
            || hasEnded && value != ledger.additionsConfirmed()) {
            return "the counter is " + value + ", of " + ledger.additionsPosted() + " additions "
                + ledger.additionsConfirmed() + " were confirmed";
        }
        for (int i = 0; i < SLOTS; i++) {
            long written = ledger.written(i);
            // while a further write is not confirmed the slot may have bytes of both
            if (written != 0 && ledger.writing(i) == written) {
                String fault = fault(area, slot(conversation, i), conversation, written);
                if (fault != null) {
                    return "write " + written + " to slot " + i + " was confirmed, there is " + fault;
                }
            }
        }
        return null;
    }

    /** Null if that write is there, else what is there. */
    static String fault(DirectBuffer buffer, int offset, int conversation, long written) {
        String fault = Payload.fault(buffer, offset, buffer.getLong(offset + Payload.LENGTH_OFFSET));
        if (fault == null && (Payload.conversation(buffer, offset) != conversation
            || Payload.number(buffer, offset) != written)) {
            fault = "write " + Payload.number(buffer, offset) + " of conversation "
                + Payload.conversation(buffer, offset);
        }
        return fault;
    }
}
