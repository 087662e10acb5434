package org.jfabric.perf.compare;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.driver.config.ThreadingMode;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.ToolException;

/**
 * Tagged messages over the link shm between drivers in mode INVOKER that one thread runs: all instructions of a message
 * and no transfer of cache lines. A message is a receive, a send and the receive's entry. Owner: one thread.
 */
public final class ManyPeersSide implements Side, CompletionHandler {
    private static final int CHUNK = 64;
    private static final int LIMIT = 4;
    private static final int LONG_BYTES = 48 << 10;
    /** One message of so many is a long one. */
    private static final int LONG_EACH = 256;
    private static final long TAG = 7;
    private static final long RECEIVE = 1;
    private static final long SEND = 2;

    /** Who sends to whom. */
    public enum Pattern {
        /** Senders to as many receivers, each to its own one, in turn. */
        PAIRS(true, true),
        /** One sender to the receivers in turn. */
        TURN(false, true),
        /** The first of the senders to the one receiver; the others have sent before, and are not polled. */
        FIRST(true, false),
        /** The last of the senders to the one receiver. */
        LAST(true, false),
        /** One sender to one receiver, 48 KiB in one message of 256. */
        MIXED(false, false),
        /** The senders in turn to the one receiver, which answers each message before the next one. */
        REQUESTS(true, false);

        private final boolean hasSenders;
        private final boolean hasReceivers;

        Pattern(boolean hasSenders, boolean hasReceivers) {
            this.hasSenders = hasSenders;
            this.hasReceivers = hasReceivers;
        }
    }

    private final Pattern pattern;
    private final int peers;
    private final int sizeBytes;
    private final List<PingPongFabric> senders = new ArrayList<>();
    private final List<PingPongFabric> receivers = new ArrayList<>();
    private long[][] addresses;
    private long[] answerAddresses;
    private int next;
    private long sent;
    private long received;

    /** Starts all drivers. */
    public ManyPeersSide(Path directory, Pattern pattern, int peers, int sizeBytes) {
        this.pattern = pattern;
        this.peers = peers;
        this.sizeBytes = sizeBytes;
        open(senders, directory, "sender", pattern.hasSenders ? peers : 1);
        open(receivers, directory, "receiver", pattern.hasReceivers ? peers : 1);
    }

    private void open(List<PingPongFabric> fabrics, Path directory, String name, int count) {
        for (int i = 0; i < count; i++) {
            fabrics.add(PingPongFabric.application(directory.resolve(name + i), ThreadingMode.INVOKER, "shm",
                pattern == Pattern.MIXED ? LONG_BYTES : sizeBytes, name + i));
        }
    }

    /** Sends a few messages to each peer. */
    @Override
    public void connect() {
        addresses = new long[senders.size()][receivers.size()];
        answerAddresses = new long[senders.size()];
        for (int from = 0; from < senders.size(); from++) {
            for (int to = 0; to < receivers.size(); to++) {
                if (pattern != Pattern.PAIRS || from == to) {
                    addresses[from][to] = senders.get(from).peer("receiver" + to, "receiver" + to);
                    for (int i = 0; i < LIMIT; i++) {
                        message(from, to, sizeBytes);
                    }
                }
            }
            if (pattern == Pattern.REQUESTS) {
                answerAddresses[from] = receivers.getFirst().peer("sender" + from, "sender" + from);
                message(receivers.getFirst(), senders.get(from), answerAddresses[from], sizeBytes);
            }
        }
    }

    @Override
    public long run(Pass pass, long count) {
        long begin = System.nanoTime();
        for (long done = 0; done < count; done += CHUNK) {
            chunk((int) Math.min(CHUNK, count - done));
        }
        return System.nanoTime() - begin;
    }

    private void chunk(int count) {
        for (int i = 0; i < count; i++) {
            message();
        }
    }

    /** Sends and receives one message, or a request and its answer. */
    public void message() {
        int at = next;
        next = at + 1 < peers ? at + 1 : 0;
        switch (pattern) {
            case PAIRS -> message(at, at, sizeBytes);
            case TURN -> message(0, at, sizeBytes);
            case FIRST -> message(0, 0, sizeBytes);
            case LAST -> message(peers - 1, 0, sizeBytes);
            case MIXED -> message(0, 0, sent++ % LONG_EACH == 0 ? LONG_BYTES : sizeBytes);
            case REQUESTS -> {
                message(at, 0, sizeBytes);
                message(receivers.getFirst(), senders.get(at), answerAddresses[at], sizeBytes);
            }
            default -> throw new IllegalStateException("pattern " + pattern);
        }
    }

    private void message(int from, int to, int bytes) {
        message(senders.get(from), receivers.get(to), addresses[from][to], bytes);
    }

    private void message(PingPongFabric sender, PingPongFabric receiver, long address, int bytes) {
        check(receiver.endpoint().trecv(
            receiver.receiveRegion().address(0), bytes, FabricAddress.ADDR_UNSPEC, TAG, 0, RECEIVE));
        int result;
        while ((result = sender.endpoint().tsend(sender.sendRegion().address(0), bytes, address, TAG, SEND))
            == -FabricErrno.EAGAIN) {
            check(sender.queue().poll(this, LIMIT));
        }
        check(result);
        long before = received;
        for (;;) {
            check(receiver.queue().poll(this, LIMIT));
            if (received != before) {
                return;
            }
            // while the connection is made, and while a long message is fetched
            check(sender.queue().poll(this, LIMIT));
        }
    }

    @Override
    public void onCompletion(Completion completion) {
        received += completion.opContext() == RECEIVE ? 1 : 0;
    }

    private static void check(int result) {
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw new ToolException("A transfer was refused with " + FabricErrno.name(-result) + " ("
                + FabricErrno.describe(-result) + ").");
        }
    }

    @Override
    public void close() {
        senders.forEach(PingPongFabric::close);
        receivers.forEach(PingPongFabric::close);
    }
}
