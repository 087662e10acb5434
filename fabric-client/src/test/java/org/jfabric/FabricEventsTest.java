package org.jfabric;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Test;

class FabricEventsTest {
    private final List<String> seen = new CopyOnWriteArrayList<>();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch leaves = new CountDownLatch(1);

    @Test
    void shouldReportTheEndOfTheNextDriverBehindTheReturnToItWhenTheListenerIsSlow() throws Exception {
        FabricEvents events = new FabricEvents(new FabricListener() {
            @Override
            public void onReconnected() {
                entered.countDown();
                Deadline.awaitParked("the listener may return", () -> leaves.getCount() == 0);
                seen.add("back");
            }

            @Override
            public void onDriverAway(FabricException why) {
                seen.add("away");
            }
        }, Map.of(), Set.of(), null, null, Runnable::run);
        Thread first = Thread.ofPlatform().start(() -> events.onReturned(List.of()));
        entered.await();
        // does not wait for the listener: this thread is to connect to yet another driver
        events.onAway(new FabricException(FabricErrno.ENODEV, "it has ended"));
        assertEquals(List.of(), seen);
        leaves.countDown();
        first.join();
        assertEquals(List.of("back", "away"), seen);
    }
}
