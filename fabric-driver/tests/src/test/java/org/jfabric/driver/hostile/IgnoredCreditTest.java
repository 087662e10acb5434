package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.UnsafeApi;
import org.jfabric.driver.ControlClient;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that posts on though nobody reads: its queue overruns, and nothing else happens. */
@Tag("hostile")
@Timeout(120)
class IgnoredCreditTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final long KIND = Flags.TAGGED | Flags.COMPLETION;
    private static final long NO_ADDRESS = 0;
    private static final int BEYOND = 100;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldOverrunOnlyTheQueueOfTheClientThatIgnoresItsCredit(boolean transmit) {
        ControlClient client = DRIVER.client();
        ControlClient.Queues bad = client.open("ignores-credit-" + transmit, "");
        ControlClient.Queues good = client.open("honest-" + transmit, "");
        ControlClient.Region region = client.register(4096);
        long toGood = client.insert(good, good.address);
        // each ends at once, with an error entry: the address does not exist
        for (int i = 0; i < bad.cqCapacity + BEYOND; i++) {
            Deadline.awaitParked("the driver's reading", (transmit ? bad.transmit : bad.receive)::isDrained);
            if (transmit) {
                client.send(bad, KIND, NO_ADDRESS, 8, 0, 0, i + 1);
            } else {
                client.receive(bad, NO_ADDRESS, 8, 0, i + 1);
            }
        }
        Deadline.awaitParked("no overrun", () -> state(bad) == CompletionQueueDescriptor.STATE_OVERRUN);
        Deadline.awaitParked("the driver's reading", (transmit ? bad.transmit : bad.receive)::isDrained);
        for (int i = 0; i < bad.cqCapacity; i++) {
            long[] entry = client.awaitCompletion(bad);
            assertEquals(CompletionQueueDescriptor.KIND_ERROR, entry[0], "entry " + i);
            assertEquals(i + 1, entry[1], "entry " + i);
        }
        // room comes too late: the state stays, and nothing is written any more
        UnsafeApi.putLongRelease(
            null, bad.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, bad.read);
        client.receive(bad, NO_ADDRESS, 8, 0, -1);
        Deadline.awaitParked("the driver's reading", bad.receive::isDrained);
        for (int i = 0; i < BEYOND; i++) {
            UnsafeApi.putLong(region.data(), i + 77L);
            client.receive(good, region.address(1024), 8, 7, 501);
            client.send(good, KIND, region.address(0), 8, toGood, 7, 502);
            for (int entries = 0; entries < 2; entries++) {
                long[] entry = client.awaitCompletion(good);
                assertEquals(CompletionQueueDescriptor.KIND_SUCCESS, entry[0]);
                assertTrue(entry[1] == 501 || entry[1] == 502, "context " + entry[1]);
            }
            UnsafeApi.putLongRelease(
                null, good.cq.address() + CompletionQueueDescriptor.READ_POSITION_OFFSET, good.read);
            assertEquals(i + 77L, UnsafeApi.getLong(region.data() + 1024));
        }
        assertEquals(CompletionQueueDescriptor.STATE_OPEN, state(good));
        assertEquals(CompletionQueueDescriptor.STATE_OVERRUN, state(bad));
        long first = UnsafeApi.getLong(bad.cq.address() + CompletionQueueDescriptor.RECORDS_OFFSET);
        assertEquals(1, (int) first, "the slot was written again");
        assertFalse(client.isEnded());
    }

    private static int state(ControlClient.Queues queues) {
        return UnsafeApi.getIntVolatile(null, queues.cq.address() + CompletionQueueDescriptor.STATE_OFFSET);
    }
}
