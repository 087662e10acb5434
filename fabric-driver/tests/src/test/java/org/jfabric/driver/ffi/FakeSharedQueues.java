package org.jfabric.driver.ffi;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jfabric.info.FabricErrno;

/** The shared receive queues of one device in memory. Messages that wait for a receive get one in turn. */
public final class FakeSharedQueues {
    /** One of them. */
    static final class Queue {
        final ArrayDeque<FakeQueuePair.Work> receives = new ArrayDeque<>();
        private final int capacity;
        private final List<FakeQueuePair> users = new ArrayList<>();
        private int turn;

        private Queue(int capacity) {
            this.capacity = capacity;
        }

        void add(FakeQueuePair user) {
            users.add(user);
        }

        void remove(FakeQueuePair user) {
            users.remove(user);
        }

        private void post(FakeQueuePair.Work receive) {
            if (receives.size() >= capacity) {
                throw new AssertionError("a shared receive queue of " + capacity + " requests has overrun");
            }
            receives.add(receive);
            for (int i = 0; i < users.size() && !receives.isEmpty(); i++) {
                users.get(turn++ % users.size()).peerMoves();
            }
        }
    }

    /** Answer of creating a queue, if not 0: a positive errno. */
    public int errno;
    private final Map<Long, Queue> queues = new HashMap<>();

    FakeSharedQueues() {
    }

    /** Returns the number of queues. */
    public int count() {
        return queues.size();
    }

    /** Receives that the device has, of all of them. */
    public int posted() {
        return queues.values().stream().mapToInt(queue -> queue.receives.size()).sum();
    }

    long create(long domain, int receives) {
        if (errno != 0) {
            return -errno;
        }
        long pointer = NativeMemory.allocate(VerbsLayout.SRQ_SIZE);
        queues.put(pointer, new Queue(receives));
        return pointer;
    }

    int destroy(long pointer) {
        Queue queue = queues.get(pointer);
        if (!queue.users.isEmpty()) {
            return -FabricErrno.EBUSY;
        }
        queues.remove(pointer);
        NativeMemory.free(pointer);
        return 0;
    }

    /** The queue with that pointer; null for 0. */
    Queue get(long pointer) {
        return queues.get(pointer);
    }

    void post(long pointer, FakeQueuePair.Work receive) {
        queues.get(pointer).post(receive);
    }
}
