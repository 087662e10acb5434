package org.jfabric.driver.progress;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.agrona.collections.ArrayListUtil;
import org.jfabric.codec.queue.CancelRequestDecoder;
import org.jfabric.codec.queue.ReceiveRequestDecoder;
import org.jfabric.codec.queue.SendRequestDecoder;
import org.jfabric.codec.queue.TimeStampDecoder;
import org.jfabric.driver.resource.Stage;
import org.jfabric.driver.resource.StageTimes;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * Takes work requests out of the transmit and receive queues of attached clients and posts them to the engine.
 *
 * <p>Queues that had work lately are <em>hot</em> and polled in every cycle. The others are found by their activity
 * byte: those of up to 128 endpoints of a client in the next cycle, those of more within 32 cycles. Every queue is
 * polled now and then without the byte, because a client writes it without a fence. No content of a queue is trusted:
 * an invalid record ends the client with a reason. If a file was truncated, the error propagates to the progress agent,
 * which finds the file.
 *
 * <p>Owner: progress agent.
 */
public final class QueuePoller {
    /** Cycles without work after which a queue's activity byte is cleared. */
    private static final int COOLING_CYCLES = 1024;
    /**
     * Cycles after that in which it is still polled: a client that saw the byte set has stored its record before, and
     * by then the store is visible.
     */
    private static final int LUKEWARM_CYCLES = 64;
    static final int STAMP_TYPE = TimeStampDecoder.TEMPLATE_ID;
    private static final int SEND_TYPE = SendRequestDecoder.TEMPLATE_ID;
    private static final int RECEIVE_TYPE = ReceiveRequestDecoder.TEMPLATE_ID;
    private static final int CANCEL_TYPE = CancelRequestDecoder.TEMPLATE_ID;
    private static final int SEND_LENGTH = RecordRingDescriptor.WORD_LENGTH + SendRequestDecoder.BLOCK_LENGTH;
    private static final int RECEIVE_LENGTH = RecordRingDescriptor.WORD_LENGTH + ReceiveRequestDecoder.BLOCK_LENGTH;
    private static final int CANCEL_LENGTH = RecordRingDescriptor.WORD_LENGTH + CancelRequestDecoder.BLOCK_LENGTH;

    private final int batch;
    private final int rotationCycles;
    private final SendRequestDecoder send = new SendRequestDecoder();
    private final ReceiveRequestDecoder receive = new ReceiveRequestDecoder();
    private final CancelRequestDecoder cancel = new CancelRequestDecoder();
    private final WorkRequests workRequests = new WorkRequests();
    private final SlabReturns slabReturns = new SlabReturns();
    private final ArrayList<ProgressClient> clients = new ArrayList<>();
    private final ArrayList<EndpointQueues> all = new ArrayList<>();
    private final ArrayList<EndpointQueues> hot = new ArrayList<>();
    private long rotationDebt;
    private int rotation;
    private long requests;
    private StageTimes stages = StageTimes.OFF;

    /**
     * A poller without clients.
     *
     * @param batch          requests taken from one queue in one cycle at most.
     */
    public QueuePoller(int batch, int rotationCycles) {
        this.batch = batch;
        this.rotationCycles = rotationCycles;
    }

    /** Records the times of samples. */
    public void measure(StageTimes newStages) {
        stages = newStages;
    }

    /**
     * Serves a client.
     *
     * @param client without endpoints.
     */
    public void add(ProgressClient client) {
        clients.add(client);
    }

    /**
     * Removes a client; nothing of it is accessed any more.
     *
     * @param client served or not.
     */
    public void remove(ProgressClient client) {
        clients.remove(client);
        leave(client);
        all.removeIf(queues -> queues.client == client);
        hot.removeIf(queues -> queues.client == client);
    }

    /**
     * Stops writing into a client's queues, even when its operations end.
     *
     * @param client served or not.
     */
    void leave(ProgressClient client) {
        for (EndpointQueues queues : all) {
            if (queues.client == client) {
                queues.leave();
            }
        }
    }

    public void add(EndpointQueues queues) {
        queues.client.add(queues);
        queues.serve();
        all.add(queues);
    }

    /**
     * Removes the queues of an endpoint; they are not accessed any more.
     *
     * @param queues served before.
     */
    public void remove(EndpointQueues queues) {
        queues.client.remove(queues);
        queues.leave();
        all.remove(queues);
        hot.remove(queues);
    }

    /** One bounded step over all queues that may have work. */
    public int poll() {
        if (all.isEmpty()) {
            // an application that only uses its own driver in INVOKER mode has no queues
            return 0;
        }
        int work = 0;
        for (int i = 0, size = clients.size(); i < size; i++) {
            warm(clients.get(i));
        }
        for (int i = hot.size() - 1; i >= 0; i--) {
            EndpointQueues queues = hot.get(i);
            int taken = poll(queues);
            if (taken > 0) {
                queues.idleCycles = 0;
                work += taken;
            } else if (++queues.idleCycles == COOLING_CYCLES) {
                queues.client.clearActivity(queues.activityIndex);
                // records committed before the client can see the byte cleared are found from the next poll on
                UnsafeApi.fullFence();
            } else if (queues.idleCycles == COOLING_CYCLES + LUKEWARM_CYCLES) {
                queues.hot = false;
                ArrayListUtil.fastUnorderedRemove(hot, i);
            }
        }
        work += rotate();
        requests += work;
        return work;
    }

    /** Polls every queue, hot or not; before the thread sleeps. */
    public int pollAll() {
        int work = 0;
        for (int i = 0, size = all.size(); i < size; i++) {
            EndpointQueues queues = all.get(i);
            int taken = poll(queues);
            if (taken > 0) {
                heat(queues);
                work += taken;
            }
        }
        requests += work;
        return work;
    }

    /** Requests taken since the start. */
    public long requests() {
        return requests;
    }

    List<ProgressClient> clients() {
        return clients;
    }

    private void warm(ProgressClient client) {
        int words = client.activityWords();
        int count = client.activityWordsPerCycle();
        int word = client.nextActivityWord();
        for (int i = 0; i < count; i++) {
            word = word < words ? word : 0;
            long bytes = client.activity(word);
            if (bytes != 0) {
                warm(client, word, bytes);
            }
            word++;
        }
        client.nextActivityWord(word);
    }

    private void warm(ProgressClient client, int word, long bytes) {
        for (int i = 0; i < Long.BYTES; i++) {
            if ((byte) (bytes >>> (i << 3)) != 0) {
                EndpointQueues queues = client.queues((word << 3) + i);
                if (queues != null && !queues.hot) {
                    heat(queues);
                }
            }
        }
    }

    private void heat(EndpointQueues queues) {
        queues.idleCycles = 0;
        if (!queues.hot) {
            queues.hot = true;
            hot.add(queues);
        }
    }

    private int rotate() {
        int work = 0;
        rotationDebt += all.size();
        while (rotationDebt >= rotationCycles && !all.isEmpty()) {
            rotationDebt -= rotationCycles;
            rotation = rotation + 1 < all.size() ? rotation + 1 : 0;
            EndpointQueues queues = all.get(rotation);
            if (!queues.hot) {
                int taken = poll(queues);
                if (taken > 0) {
                    heat(queues);
                    work += taken;
                }
            }
        }
        return work;
    }

    /**
     * Polls transmit before receive, so that a message to a peer in the same driver does not wait for our own receives.
     */
    private int poll(EndpointQueues queues) {
        if (queues.client.session().isEnded()) {
            return 0;
        }
        return pollTransmit(queues) + pollReceive(queues);
    }

    private int pollTransmit(EndpointQueues queues) {
        RecordConsumer ring = queues.transmit;
        int limit = ring.batch(batch);
        int work = 0;
        int state = ring.poll();
        while (state == RecordConsumer.RECORD) {
            int offset = ring.offset();
            // before execution: if that ends with a memory fault the record must not be executed once more
            ring.step();
            if (!onTransmitRecord(queues, ring, offset, true)) {
                return work;
            }
            ring.releaseFar();
            work++;
            if (work == limit) {
                break;
            }
            state = ring.poll();
        }
        ring.batchTaken(work);
        if (state == RecordConsumer.CORRUPT) {
            corrupt(queues, "transmit", ring.describe());
        } else {
            ring.release();
        }
        return work;
    }

    private int pollReceive(EndpointQueues queues) {
        if (queues.client.session().isEnded()) {
            return 0;
        }
        RecordConsumer ring = queues.receive;
        int limit = ring.batch(batch);
        int work = 0;
        int state = ring.poll();
        while (state == RecordConsumer.RECORD) {
            int offset = ring.offset();
            // before it is executed: if that ends with a memory fault the record must not be executed once more
            ring.step();
            if (!onReceiveRecord(queues, ring, offset, true)) {
                return work;
            }
            ring.releaseFar();
            work++;
            if (work == limit) {
                break;
            }
            state = ring.poll();
        }
        ring.batchTaken(work);
        if (state == RecordConsumer.CORRUPT) {
            corrupt(queues, "receive", ring.describe());
        } else {
            ring.release();
        }
        return work;
    }

    private boolean onTransmitRecord(
        EndpointQueues queues, RecordConsumer ring, int offset, boolean catchesUp) {
        int type = ring.type();
        if (type == CANCEL_TYPE) {
            return onCancel(queues, ring, offset, "transmit", catchesUp);
        }
        int length = ring.length();
        if (type != SEND_TYPE || length < SEND_LENGTH) {
            if (type == STAMP_TYPE) {
                return onStamp(queues, ring, offset, catchesUp);
            }
            return type == WorkRequests.TYPE ? onWork(queues, true, offset, length)
                : corrupt(queues, "transmit", unexpected(type, length));
        }
        send.wrap(queues.transmitBuffer, offset + RecordRingDescriptor.WORD_LENGTH,
            SendRequestDecoder.BLOCK_LENGTH, SendRequestDecoder.SCHEMA_VERSION);
        long flags = send.flags();
        long bytes = send.length();
        int result;
        if ((flags & Flags.INJECT) != 0) {
            if (bytes != length - SEND_LENGTH) {
                return corrupt(queues, "transmit", "injected payload of " + bytes + " bytes in a record of " + length);
            }
            result = queues.endpoint.inject(flags, ring.address(offset) + SEND_LENGTH, (int) bytes, send.destAddr(),
                send.tag(), send.data(), send.context());
        } else if (length != SEND_LENGTH) {
            return corrupt(queues, "transmit", unexpected(type, length));
        } else {
            result = queues.endpoint.send(
                flags, send.buf(), bytes, send.destAddr(), send.tag(), send.data(), send.context());
        }
        return result == 0 || refused(queues, "transmit", result);
    }

    private boolean onReceiveRecord(
        EndpointQueues queues, RecordConsumer ring, int offset, boolean catchesUp) {
        int type = ring.type();
        if (type == CANCEL_TYPE) {
            return onCancel(queues, ring, offset, "receive", catchesUp);
        }
        int length = ring.length();
        if (type == SlabReturns.TYPE) {
            return slabReturns.execute(queues, offset, length)
                || corrupt(queues, "receive", unexpected(type, length));
        }
        if (type != RECEIVE_TYPE || length != RECEIVE_LENGTH) {
            return type == WorkRequests.TYPE ? onWork(queues, false, offset, length)
                : corrupt(queues, "receive", unexpected(type, length));
        }
        receive.wrap(queues.receiveBuffer, offset + RecordRingDescriptor.WORD_LENGTH,
            ReceiveRequestDecoder.BLOCK_LENGTH, ReceiveRequestDecoder.SCHEMA_VERSION);
        int result = queues.endpoint.receive(receive.flags(), receive.buf(), receive.length(), receive.srcAddr(),
            receive.tag(), receive.ignore(), receive.context());
        return result == 0 || refused(queues, "receive", result);
    }

    /**
     * A time stamp, and the request behind it in the same step, so that the sample waits no longer than it would have
     * done without the stamp.
     */
    private boolean onStamp(EndpointQueues queues, RecordConsumer ring, int offset, boolean takesNext) {
        if (ring.length() != RecordRingDescriptor.STAMP_LENGTH) {
            return corrupt(queues, "transmit", unexpected(STAMP_TYPE, ring.length()));
        }
        long nowNs = System.nanoTime();
        long stampNs = queues.transmitBuffer.getLong(offset + RecordRingDescriptor.WORD_LENGTH, LITTLE_ENDIAN);
        stages.record(Stage.SUBMIT_TO_ENGINE, nowNs - stampNs);
        // while catching up, what is behind was perhaps posted after the cancel
        if (!takesNext || ring.poll() != RecordConsumer.RECORD || ring.type() == STAMP_TYPE) {
            return true;
        }
        int type = ring.type();
        int next = ring.offset();
        ring.step();
        if (type == CANCEL_TYPE) {
            return onTransmitRecord(queues, ring, next, true);
        }
        queues.endpoint.beginSample(nowNs);
        boolean executed = onTransmitRecord(queues, ring, next, true);
        queues.endpoint.endSample(executed);
        return executed;
    }

    private boolean onWork(EndpointQueues queues, boolean isTransmit, int offset, int length) {
        String name = isTransmit ? "transmit" : "receive";
        int result = workRequests.execute(queues, isTransmit, offset, length);
        if (result == WorkRequests.CORRUPT) {
            return corrupt(queues, name, unexpected(WorkRequests.TYPE, length));
        }
        return result == 0 || refused(queues, name, result);
    }

    private boolean onCancel(
        EndpointQueues queues, RecordConsumer ring, int offset, String name, boolean catchesUp) {
        if (ring.length() != CANCEL_LENGTH) {
            return corrupt(queues, name, unexpected(CANCEL_TYPE, ring.length()));
        }
        cancel.wrap(ring == queues.transmit ? queues.transmitBuffer : queues.receiveBuffer,
            offset + RecordRingDescriptor.WORD_LENGTH, CancelRequestDecoder.BLOCK_LENGTH,
            CancelRequestDecoder.SCHEMA_VERSION);
        long context = cancel.context();
        // a cancel found while catching up does not catch up itself: only a broken client has one there, and it must
        // not cause an endless loop
        if (catchesUp && !catchUp(queues, ring == queues.transmit, cancel.otherPosition())) {
            return false;
        }
        queues.endpoint.cancel(context);
        return true;
    }

    /**
     * Executes the requests that a client had posted before a command, or a change of a counter, that concerns them; at
     * most one ring full of each queue.
     */
    void takePosted(ProgressClient client) {
        // without an iterator: also called in a duty cycle
        for (int i = 0; i < all.size(); i++) {
            EndpointQueues queues = all.get(i);
            if (queues.client == client && !client.session().isEnded()
                && catchUp(queues, false, queues.transmit.position() + queues.transmitBuffer.capacity())) {
                catchUp(queues, true, queues.receive.position() + queues.receiveBuffer.capacity());
            }
        }
    }

    /**
     * Executes the requests that the client had posted into the endpoint's other queue before it posted a cancel into
     * this one: the cancel may refer to one of them. At most one ring full.
     */
    private boolean catchUp(EndpointQueues queues, boolean cancelInTransmit, long position) {
        RecordConsumer ring = cancelInTransmit ? queues.receive : queues.transmit;
        String name = cancelInTransmit ? "receive" : "transmit";
        int capacity = (cancelInTransmit ? queues.receiveBuffer : queues.transmitBuffer).capacity();
        if (position - ring.position() > capacity) {
            return corrupt(queues, name, "a cancel names position " + position + ", the driver is at "
                + ring.position() + " of a ring of " + capacity + " bytes");
        }
        while (ring.position() < position) {
            int state = ring.poll();
            if (state == RecordConsumer.CORRUPT) {
                return corrupt(queues, name, ring.describe());
            }
            if (state == RecordConsumer.EMPTY) {
                // posted by another thread at the same time as the cancel: neither is first
                break;
            }
            int offset = ring.offset();
            // before execution, as in the polls
            ring.step();
            boolean executed = cancelInTransmit
                ? onReceiveRecord(queues, ring, offset, false) : onTransmitRecord(queues, ring, offset, false);
            if (!executed) {
                return false;
            }
            ring.releaseFar();
        }
        ring.release();
        return true;
    }

    private static boolean refused(EndpointQueues queues, String name, int result) {
        return corrupt(queues, name, result == -FabricErrno.EAGAIN
            ? "more operations submitted than the endpoint may have outstanding (" + queues.endpoint.settings().txSize()
                + " sends, " + queues.endpoint.settings().rxSize() + " receives)"
            : "the request was refused with " + FabricErrno.name(-result));
    }

    private static boolean corrupt(EndpointQueues queues, String name, String reason) {
        queues.client.session().corrupt(
            name + " queue of endpoint " + queues.endpoint.settings().address() + " is corrupt: " + reason);
        return false;
    }

    private static String unexpected(int type, int length) {
        return "a record of type " + type + " has " + length + " bytes";
    }
}
