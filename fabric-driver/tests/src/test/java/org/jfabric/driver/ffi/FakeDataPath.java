package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;
import org.jfabric.ffi.EventFd;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The data path of a device in memory. It reads work requests as a card does, from where the product has put them, and
 * fails a test whose queues overrun.
 */
public final class FakeDataPath extends VerbsDataPath {
    private record Completion(
        long id, int status, int opcode, int vendorError, int length, int flags, int immediate, int number,
        int sourcePair) {
    }

    private record Memory(long domain, long address, long length, int access) {
    }

    /** A completion queue. */
    private static final class Queue {
        private final ArrayDeque<Completion> entries = new ArrayDeque<>();
        private int capacity;
        private int fd;
        private boolean isArmed;
    }

    /** Requests of each call of {@code ibv_post_send}. */
    public final List<Integer> sendBatches = new ArrayList<>();
    /** Requests of each call of {@code ibv_post_recv}. */
    public final List<Integer> receiveBatches = new ArrayList<>();
    /** Numbers of the requests that asked for a completion. */
    public final List<Long> signaled = new ArrayList<>();
    /** Flags of each send. */
    public final List<Integer> sendFlags = new ArrayList<>();
    /** Sends stay on their way. */
    public boolean holdsSends;
    /** Requests of queue pairs in error do not come back yet: the card is busy with them. */
    public boolean holdsFlushes;
    /** Number of polls after which delayed requests are released, if not 0. */
    public int pollsToRelease;
    /** Answer of polls, if not 0: a positive errno. */
    public int pollErrno;
    /** Answer of a request for notification of a completion queue, if not 0: a positive errno. */
    public int armErrno;
    /** Status of the next send, if not 0. */
    public int nextStatus;
    /** The vendor's code with it. */
    public int nextVendorError;
    /** Answer of the next post, if not 0: a positive errno. */
    public int nextPostErrno;
    /** True if entries of a queue pair stay in its completion queue when it is destroyed, as with rxe. */
    public boolean leavesEntries;
    /** Number of messages of a peer that found no receive. */
    public int notReady;
    /** The shared receive queues. */
    public final FakeSharedQueues shared = new FakeSharedQueues();
    /** Most entries that a queue has had. */
    public int mostCompletions;

    final Map<Long, FakeDatagramPair> datagramPairs = new HashMap<>();
    final ArrayDeque<Long> notified = new ArrayDeque<>();
    private final Map<Long, Queue> queues = new HashMap<>();
    private final Map<Long, FakeQueuePair> queuePairs = new HashMap<>();
    private final Map<Integer, Memory> memory = new HashMap<>();
    private int nextNumber = 0x11;

    FakeDataPath() {
    }

    /** Releases delayed requests. */
    public void release() {
        holdsSends = false;
        holdsFlushes = false;
        List.copyOf(queuePairs.values()).forEach(FakeQueuePair::move);
        List.copyOf(datagramPairs.values()).forEach(FakeDatagramPair::move);
    }

    /**
     * The only queue pair.
     *
     * @return pointer.
     */
    public long queuePair() {
        return queuePairs.keySet().iterator().next();
    }

    /**
     * The only completion queue that queue pairs use.
     *
     * @return pointer.
     */
    public long queue() {
        return queuePairs.values().iterator().next().queue;
    }

    /** Queue pairs that exist. */
    public int queuePairs() {
        return queuePairs.size();
    }

    /** Puts the only queue pair into the error state: everything comes back. */
    public void failQueuePair() {
        queuePairs.values().iterator().next().fail();
    }

    /**
     * Puts the only queue pair of datagrams into the error state.
     */
    public void failDatagrams() {
        datagramPairs.values().iterator().next().fail();
    }

    /**
     * Receives that the only queue pair of datagrams has.
     *
     * @return count.
     */
    public int datagramReceives() {
        return datagramPairs.values().iterator().next().receives.size();
    }

    /**
     * Completion queues that exist.
     *
     * @return count.
     */
    public int queues() {
        return queues.size();
    }

    void addQueue(long pointer, int capacity, int fd) {
        Queue queue = new Queue();
        queue.capacity = capacity;
        queue.fd = fd;
        queues.put(pointer, queue);
    }

    void removeQueue(long pointer) {
        queues.remove(pointer);
    }

    void register(int key, long domain, long address, long length, int access) {
        memory.put(key, new Memory(domain, address, length, access));
    }

    void deregister(int key) {
        if (queuePairs.values().stream().anyMatch(pair -> pair.uses(key))) {
            throw new AssertionError("the card has a request with key " + key + " still");
        }
        memory.remove(key);
    }

    boolean mayAccess(int key, long domain, int right, long address, long length) {
        Memory known = memory.get(key);
        return known != null && known.domain == domain && (known.access & right) != 0 && address >= known.address
            && address + length <= known.address + known.length;
    }

    /** Whether memory is registered in a domain. */
    boolean isOf(int key, long domain) {
        Memory known = memory.get(key);
        return known != null && known.domain == domain;
    }

    FakeQueuePair createQueuePair(long queue, RdmaCm.QueueDepths depths) {
        FakeQueuePair made = new FakeQueuePair(
            this, queue, depths, shared.get(depths.sharedQueue()), nextNumber++);
        queuePairs.put(made.pointer, made);
        return made;
    }

    void destroyQueuePair(FakeQueuePair queuePair) {
        if (leavesEntries) {
            queuePair.fail();
        }
        queuePair.end();
        queuePairs.remove(queuePair.pointer);
        if (queuePair.shared != null) {
            queuePair.shared.remove(queuePair);
        }
    }

    void complete(
        FakeQueuePair queuePair, long id, int status, int opcode, int vendorError, int length, int flags,
        int immediate) {
        complete(queuePair.queue, new Completion(
            id, status, opcode, vendorError, length, flags, immediate, queuePair.number, 0));
    }

    void complete(
        long pointer, long id, int status, int opcode, int vendorError, int length, int flags, int immediate,
        int sourcePair) {
        complete(pointer, new Completion(id, status, opcode, vendorError, length, flags, immediate, 0, sourcePair));
    }

    private void complete(long pointer, Completion completion) {
        Queue queue = queues.get(pointer);
        queue.entries.add(completion);
        mostCompletions = Math.max(mostCompletions, queue.entries.size());
        if (queue.entries.size() > queue.capacity) {
            throw new AssertionError("a completion queue of " + queue.capacity + " entries has overrun");
        }
        if (queue.isArmed) {
            queue.isArmed = false;
            notified.add(pointer);
            EventFd.write(queue.fd, 1);
        }
    }

    void complete(
        FakeQueuePair queuePair, long id, int status, int opcode, int vendorError, int length, int flags) {
        complete(queuePair, id, status, opcode, vendorError, length, flags, 0);
    }

    private FakeQueuePair.Work work(long at, boolean isSend) {
        int count = UnsafeApi.getInt(at + (isSend ? VerbsLayout.SEND_SGE_COUNT : VerbsLayout.RECV_SGE_COUNT));
        long sges = UnsafeApi.getLong(at + (isSend ? VerbsLayout.SEND_SGES : VerbsLayout.RECV_SGES));
        long[] pieces = new long[3 * count];
        for (int i = 0; i < count; i++) {
            long sge = sges + (long) i * VerbsLayout.SGE_SIZE;
            pieces[3 * i] = UnsafeApi.getLong(sge + VerbsLayout.SGE_ADDRESS);
            pieces[3 * i + 1] = UnsafeApi.getInt(sge + VerbsLayout.SGE_LENGTH);
            int key = UnsafeApi.getInt(sge + VerbsLayout.SGE_LKEY);
            pieces[3 * i + 2] = key;
            Memory known = memory.get(key);
            if (known == null || pieces[3 * i] < known.address
                || pieces[3 * i] + pieces[3 * i + 1] > known.address + known.length) {
                throw new AssertionError("key " + key + " does not cover the piece");
            }
        }
        if (!isSend) {
            return new FakeQueuePair.Work(
                UnsafeApi.getLong(at + VerbsLayout.RECV_ID), 0, true, 0, pieces, 0, 0, 0, 0);
        }
        int flags = UnsafeApi.getInt(at + VerbsLayout.SEND_FLAGS);
        sendFlags.add(flags);
        long id = UnsafeApi.getLong(at + VerbsLayout.SEND_ID);
        if ((flags & VerbsConstants.SEND_SIGNALED) != 0) {
            signaled.add(id);
        }
        int opcode = UnsafeApi.getInt(at + VerbsLayout.SEND_OPCODE);
        boolean isAtomic = opcode == VerbsConstants.WR_ATOMIC_CMP_AND_SWP
            || opcode == VerbsConstants.WR_ATOMIC_FETCH_AND_ADD;
        return new FakeQueuePair.Work(id, opcode,
            (flags & VerbsConstants.SEND_SIGNALED) != 0,
            Integer.reverseBytes(UnsafeApi.getInt(at + VerbsLayout.SEND_IMMEDIATE)), pieces,
            UnsafeApi.getLong(at + VerbsLayout.SEND_REMOTE_ADDRESS), UnsafeApi.getInt(
                at + (isAtomic ? VerbsLayout.SEND_ATOMIC_RKEY : VerbsLayout.SEND_RKEY)),
            UnsafeApi.getLong(at + VerbsLayout.SEND_ATOMIC_COMPARE_ADD),
            UnsafeApi.getLong(at + VerbsLayout.SEND_ATOMIC_SWAP));
    }

    @Override
    public int postSend(long queuePair, long request) {
        if (nextPostErrno != 0) {
            int errno = nextPostErrno;
            nextPostErrno = 0;
            return -errno;
        }
        FakeQueuePair pair = queuePairs.get(queuePair);
        FakeDatagramPair datagrams = datagramPairs.get(queuePair);
        int count = 0;
        for (long at = request; at != 0; at = UnsafeApi.getLong(at + VerbsLayout.SEND_NEXT)) {
            count++;
            if (datagrams != null) {
                datagrams.send(work(at, true), at);
                continue;
            }
            if (pair.sends.size() >= pair.maxSends) {
                throw new AssertionError("a send queue of " + pair.maxSends + " requests has overrun");
            }
            pair.send(work(at, true));
        }
        sendBatches.add(count);
        return 0;
    }

    @Override
    public int postReceive(long queuePair, long request) {
        FakeQueuePair pair = queuePairs.get(queuePair);
        FakeDatagramPair datagrams = datagramPairs.get(queuePair);
        int count = 0;
        for (long at = request; at != 0; at = UnsafeApi.getLong(at + VerbsLayout.RECV_NEXT)) {
            count++;
            if (datagrams != null) {
                if (datagrams.receives.size() >= datagrams.maxReceives) {
                    throw new AssertionError("a receive queue of " + datagrams.maxReceives + " has overrun");
                }
                datagrams.receives.add(work(at, false));
                continue;
            }
            if (pair.receives.size() >= pair.maxReceives) {
                throw new AssertionError("a receive queue of " + pair.maxReceives + " requests has overrun");
            }
            pair.receive(work(at, false));
        }
        receiveBatches.add(count);
        return 0;
    }

    @Override
    public int postSharedReceive(long sharedQueue, long request) {
        if (nextPostErrno != 0) {
            int errno = nextPostErrno;
            nextPostErrno = 0;
            return -errno;
        }
        for (long at = request; at != 0; at = UnsafeApi.getLong(at + VerbsLayout.RECV_NEXT)) {
            shared.post(sharedQueue, work(at, false));
        }
        return 0;
    }

    @Override
    public int poll(long queue, WorkCompletions completions) {
        if (pollsToRelease > 0 && --pollsToRelease == 0) {
            release();
        }
        if (pollErrno != 0) {
            return -pollErrno;
        }
        Queue polled = queues.get(queue);
        int count = Math.min(completions.capacity(), polled.entries.size());
        for (int i = 0; i < count; i++) {
            Completion entry = polled.entries.poll();
            long at = completions.address() + (long) i * VerbsLayout.WC_SIZE;
            UnsafeApi.putLong(at + VerbsLayout.WC_ID, entry.id());
            UnsafeApi.putInt(at + VerbsLayout.WC_STATUS, entry.status());
            UnsafeApi.putInt(at + VerbsLayout.WC_OPCODE, entry.opcode());
            UnsafeApi.putInt(at + VerbsLayout.WC_VENDOR_ERROR, entry.vendorError());
            UnsafeApi.putInt(at + VerbsLayout.WC_LENGTH, entry.length());
            UnsafeApi.putInt(at + VerbsLayout.WC_IMMEDIATE, Integer.reverseBytes(entry.immediate()));
            UnsafeApi.putInt(at + VerbsLayout.WC_FLAGS, entry.flags());
            UnsafeApi.putInt(at + VerbsLayout.WC_QP_NUMBER, entry.number());
            UnsafeApi.putInt(at + VerbsLayout.WC_SOURCE_QUEUE_PAIR, entry.sourcePair());
        }
        return count;
    }

    @Override
    public int arm(long queue) {
        queues.get(queue).isArmed = armErrno == 0;
        return -armErrno;
    }
}
