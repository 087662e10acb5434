package org.jfabric.driver.link.udp;

import java.util.Arrays;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.SystemEpochNanoClock;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.link.support.DatagramChannel;
import org.jfabric.driver.resource.Stage;
import org.jfabric.ffi.MessageVector;
import org.jfabric.ffi.SocketTimes;
import org.jfabric.info.TimestampClock;

/**
 * The sends of one endpoint that the kernel has taken and that wait for the time at which they left, in the order of
 * sending. The kernel numbers the datagrams of a socket, and gives number and time when a datagram leaves.
 *
 * <p>A datagram that the host drops never leaves: its send ends without a time, when another one has left behind it or
 * after a second.
 *
 * <p>Some kernels count a datagram that they have refused. After a refusal nothing is sent before all that was sent has
 * ended; then the kernel begins to count anew.
 *
 * <p>Owner: progress agent.
 */
final class Departures {
    private static final int BATCH = 16;
    private static final int FIRST_CAPACITY = 64;
    /** A datagram that leaves later than one behind it is late by the difference of two queues of a card. */
    private static final long BEHIND_NS = 1_000_000;
    private static final long LOST_NS = 1_000_000_000;
    private static final long UNKNOWN = Long.MIN_VALUE;

    private final UdpPort port;
    private final LinkServices services;
    private final boolean isOfCard;
    private final EpochNanoClock clock = new SystemEpochNanoClock();
    private final MessageVector taken = new MessageVector(BATCH, 1, SocketTimes.CONTROL_BYTES);
    private DatagramChannel[] channels = new DatagramChannel[FIRST_CAPACITY];
    private long[] ids = new long[FIRST_CAPACITY];
    /** {@link #UNKNOWN} before the kernel has given it. */
    private long[] timesNs = new long[FIRST_CAPACITY];
    private long[] sentNs = new long[FIRST_CAPACITY];
    /** Of samples of the stage, when the kernel took them by the system's clock; else 0. */
    private long[] sampledNs = new long[FIRST_CAPACITY];
    private long head;
    private long tail;
    /** The send that the kernel gave the number 0. */
    private long first;
    /** The last one of which the time is known, and since when. */
    private long newest = -1;
    private long newestNs;
    private boolean isUncertain;
    private int untilSample;

    Departures(UdpPort port, LinkServices services) {
        this.port = port;
        this.services = services;
        this.isOfCard = port.departures() == TimestampClock.CARD;
    }

    boolean isEmpty() {
        return head == tail;
    }

    /** Whether a datagram may be sent now: its number is known. */
    boolean mayBegin() {
        if (isUncertain && isEmpty()) {
            isUncertain = port.stampAgain() < 0;
            first = tail;
        }
        return !isUncertain;
    }

    /** The kernel has refused a datagram. */
    void onRefused() {
        isUncertain = true;
    }

    /** The kernel has taken a datagram. */
    void add(DatagramChannel channel, TransmitOperation operation) {
        if (tail - head == ids.length) {
            grow();
        }
        int index = index(tail++);
        channels[index] = channel;
        ids[index] = operation.id();
        timesNs[index] = UNKNOWN;
        sentNs[index] = services.nowNs();
        sampledNs[index] = 0;
        if (services.stages().isOn() && !isOfCard && --untilSample <= 0) {
            untilSample = services.stages().interval();
            sampledNs[index] = clock.nanoTime();
        }
    }

    private int index(long number) {
        return (int) number & ids.length - 1;
    }

    private void grow() {
        int capacity = ids.length;
        // in the order of their numbers, from 0: a ring of twice the length has the same places or those behind
        channels = Arrays.copyOf(channels, 2 * capacity);
        ids = Arrays.copyOf(ids, 2 * capacity);
        timesNs = Arrays.copyOf(timesNs, 2 * capacity);
        sentNs = Arrays.copyOf(sentNs, 2 * capacity);
        sampledNs = Arrays.copyOf(sampledNs, 2 * capacity);
        for (int i = 0; i < capacity; i++) {
            channels[capacity + i] = channels[i];
            ids[capacity + i] = ids[i];
            timesNs[capacity + i] = timesNs[i];
            sentNs[capacity + i] = sentNs[i];
            sampledNs[capacity + i] = sampledNs[i];
        }
    }

    /** Ends sends whose time has come; their number. */
    int poll() {
        if (isEmpty()) {
            return 0;
        }
        int count;
        do {
            count = port.receiveDepartures(taken, BATCH);
            for (int i = 0; i < count; i++) {
                departed(taken.departed(i), taken.timeNs(i, isOfCard));
            }
        } while (count == BATCH);
        int ended = 0;
        while (!isEmpty() && (timesNs[index(head)] != UNKNOWN || isLost())) {
            end();
            ended++;
        }
        return ended;
    }

    private void departed(long number, long timeNs) {
        // of a number the kernel gives the lower 32 bits
        long send = head + ((int) number - (int) (head - first));
        if (number < 0 || send < head || send >= tail) {
            return;
        }
        timesNs[index(send)] = timeNs;
        if (send > newest) {
            newest = send;
            newestNs = services.nowNs();
        }
        if (sampledNs[index(send)] != 0) {
            services.stages().record(Stage.WIRE_TO_DEPARTURE, timeNs - sampledNs[index(send)]);
        }
    }

    private boolean isLost() {
        long nowNs = services.nowNs();
        return newest > head && nowNs - newestNs >= BEHIND_NS || nowNs - sentNs[index(head)] >= LOST_NS;
    }

    private void end() {
        int index = index(head++);
        DatagramChannel channel = channels[index];
        channels[index] = null;
        if (!channel.isClosed()) {
            channel.handler().onDeparted(ids[index], Math.max(0, timesNs[index]));
        }
    }
}
