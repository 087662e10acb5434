package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.client.DriverState;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.test.Requirement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A reader of multi-receive buffers understands both ways in which drivers may give them back. */
class MultiReceiveEntriesTest {
    private static final int CAPACITY = 8;
    private static final long CONTEXT = 77;
    private static final long BUFFER = 0x1_0000_0000_1000L;

    private final CompletionQueueImage image = new CompletionQueueImage(CAPACITY);
    private final CompletionQueue queue = new CompletionQueue(
        null, 1, 0, new CompletionQueueAttr().size(4).format(CompletionFormat.TAGGED), image.memory, CAPACITY,
        new DriverState(), null, 0, 0);
    private final List<String> messages = new ArrayList<>();
    private int released;

    private void onEntry(Completion entry) {
        assertEquals(CONTEXT, entry.opContext());
        if ((entry.flags() & ~Flags.MULTI_RECV) != 0) {
            messages.add(entry.buf() - BUFFER + "+" + entry.len());
        }
        if ((entry.flags() & Flags.MULTI_RECV) != 0) {
            released++;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Requirement({"CQ-137", "CQ-138"})
    void shouldSeeMessagesAndTheReleaseInBothForms(boolean alone) {
        queue.onEndpointEnabled();
        long message = Flags.RECV | Flags.MSG;
        int driver = CompletionQueueDescriptor.FLAG_DRIVER_SHARE;
        image.entry(CONTEXT, message, 300, BUFFER, driver);
        if (alone) {
            image.entry(CONTEXT, message, 200, BUFFER + 304, driver);
            image.entry(CONTEXT, Flags.MULTI_RECV, 0, 0, 0);
        } else {
            image.entry(CONTEXT, message | Flags.MULTI_RECV, 200, BUFFER + 304, 0);
        }
        assertEquals(alone ? 3 : 2, queue.poll(this::onEntry, CAPACITY));
        assertEquals(List.of("0+300", "304+200"), messages);
        assertEquals(1, released);
    }

    @Test
    void shouldGiveBackTheSlotOfTheReleaseOnly() {
        queue.onEndpointEnabled();
        queue.credits().take();
        UnsafeBuffer entries = new UnsafeBuffer(new byte[CAPACITY * 48]);
        image.entry(CONTEXT, Flags.RECV | Flags.MSG, 8, BUFFER, CompletionQueueDescriptor.FLAG_DRIVER_SHARE);
        assertEquals(1, queue.read(entries, 0, CAPACITY));
        assertEquals(3, queue.credits().left());
        image.entry(CONTEXT, Flags.MULTI_RECV, 0, 0, 0);
        assertEquals(1, queue.read(entries, 0, CAPACITY));
        assertEquals(4, queue.credits().left());
    }
}
