package org.jfabric.driver.link.tcp;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The acknowledgements that are owed, against a list of all messages in their order. */
class OwedAcksTest {
    private record Message(long commit, boolean[] isEnded) {
    }

    @Test
    void shouldKeepTheOrderOfTheMessages() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        OwedAcks owed = new OwedAcks();
        List<Message> unsent = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            List<Message> waiting = unsent.stream().filter(each -> !each.isEnded[0]).toList();
            switch (random.nextInt(waiting.size() > 100 ? 3 : 4)) {
                case 0 -> {
                    owed.add();
                    unsent.add(new Message(-1, new boolean[] {true}));
                }
                case 1 -> {
                    if (owed.ready() > 0) {
                        owed.sent();
                        unsent.removeFirst();
                    }
                }
                case 2 -> {
                    if (!waiting.isEmpty()) {
                        Message ended = waiting.get(random.nextInt(waiting.size()));
                        ended.isEnded[0] = true;
                        owed.release(ended.commit);
                    }
                }
                default -> unsent.add(new Message(owed.hold(), new boolean[1]));
            }
            long ready = unsent.stream().takeWhile(each -> each.isEnded[0]).count();
            int at = step;
            assertEquals(ready, owed.ready(), () -> "seed " + seed + ", step " + at);
        }
        owed.clear();
        owed.add();
        assertEquals(1, owed.ready());
    }
}
