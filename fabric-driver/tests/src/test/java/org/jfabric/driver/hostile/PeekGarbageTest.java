package org.jfabric.driver.hostile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.jfabric.driver.ControlClient;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.CompletionQueueDescriptor;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Any combination of the flags of peek, claim and discard with any other bits, in the receive queue of a client. */
@Tag("hostile")
@Timeout(120)
class PeekGarbageTest {
    @RegisterExtension
    static final WatchedDriver DRIVER = new WatchedDriver();

    private static final long ANY_OF = Flags.PEEK | Flags.CLAIM | Flags.DISCARD;
    private static final long REGION_LENGTH = 1 << 16;
    private static final int ROUNDS = 3000;

    @Test
    void shouldAnswerEachLookOnceWhateverItsFlagsAre() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        ControlClient client = DRIVER.client();
        ControlClient.Queues queues = client.open("peeks-" + Long.toHexString(seed), "");
        ControlClient.Region region = client.register(REGION_LENGTH);
        long self = client.insert(queues, queues.address);
        int found = 0;
        for (int i = 0; i < ROUNDS; i++) {
            if (i % 8 == 0) {
                client.send(queues, Flags.TAGGED | Flags.COMPLETION, region.address(0), 8, self, random.nextInt(2), 9);
                await(client, queues, 9);
            }
            long context = random.nextInt(4);
            long looks = ANY_OF & random.nextLong();
            looks = looks == 0 ? Flags.CLAIM : looks;
            long flags = looks | random.nextLong() & random.nextLong() & ~Flags.MSG | Flags.TAGGED | Flags.COMPLETION;
            long buf = random.nextBoolean() ? region.address(random.nextLong(REGION_LENGTH)) : random.nextLong();
            Entries.receive(client, queues, flags, buf, random.nextInt(200), random.nextInt(2), context);
            found += await(client, queues, context) ? 1 : 0;
            assertFalse(client.isEnded(), "seed " + seed);
        }
        assertTrue(found > 0, "nothing was ever found, seed " + seed);
        client.close();
        DRIVER.assertReclaimed();
    }

    /** Takes the next entry; true for a success. */
    private static boolean await(ControlClient client, ControlClient.Queues queues, long context) {
        long[] entry = client.awaitCompletion(queues);
        Entries.release(queues);
        assertEquals(context, entry[1]);
        if (entry[0] == CompletionQueueDescriptor.KIND_SUCCESS) {
            return true;
        }
        int err = Entries.lastErrno(queues);
        assertTrue(err == FabricErrno.EINVAL || err == FabricErrno.EFAULT || err == FabricErrno.ENOMSG
            || err == FabricErrno.EBUSY || err == FabricErrno.ETRUNC, FabricErrno.name(err));
        return false;
    }
}
