package org.jfabric.driver.link.rxm;

import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongArrayQueue;
import org.jfabric.driver.link.AtomicPart;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.PieceList;
import org.jfabric.driver.link.RemoteAccess;
import org.jfabric.driver.link.RemoteChannel;
import org.jfabric.driver.link.RemoteHandler;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.RemoteRanges;
import org.jfabric.driver.link.TransmitOperation;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.Words;

/**
 * The remote memory access of a channel. Reads and writes are those of the channel below, with nothing added. An atomic
 * operation is one packet, and its answer is another. A peer's request is executed by the engine, also if the channel
 * below is a card that could do it: memory would not be atomic between both.
 *
 * <p>Operands and old values are copied into the packets. An answer is always accepted: those that find no room wait in
 * {@link RxmAnswers}.
 *
 * <p>Owner: progress agent.
 */
final class RxmRemote extends RemoteChannel {
    private static final long NONE = -1;
    /** In place of levels: a write is confirmed. */
    private static final long OF_WRITE = -2;
    /** Of a write: neither has it ended nor has the peer answered. */
    private static final long BOTH = 2;
    private static final long ONE = 1;

    private final RxmChannel channel;
    private final int eagerLimit;
    private final RemoteAccess access = new RemoteAccess();
    private final RxmRequests requests = new RxmRequests();
    private final RxmAnswers answers = new RxmAnswers();
    /** Messages whose levels an answer of the peer confirms, by the ids of their operations. */
    private final Long2LongHashMap confirmations = new Long2LongHashMap(NONE);
    /** What is missing of writes whose delivery is to be confirmed, by the ids of their operations. */
    private final Long2LongHashMap deliveries = new Long2LongHashMap(NONE);
    private final Ends ends = new Ends();
    /** Those of them whose request found no room. */
    private final LongArrayQueue unsent = new LongArrayQueue();
    /** Requests that the peer has not answered. */
    private int outstanding;

    RxmRemote(RxmChannel channel, int eagerLimit) {
        this.channel = channel;
        this.eagerLimit = eagerLimit;
    }

    // ---- calls of the engine ----

    /** Atomic operations are executed in the order of the packets, which are messages of the channel below. */
    @Override
    public boolean keepsOrder() {
        RemoteChannel below = channel.accesses();
        return below == null || below.keepsOrder();
    }

    @Override
    public long pieceLimitBytes() {
        RemoteChannel below = channel.accesses();
        return below == null ? eagerLimit : below.pieceLimitBytes();
    }

    @Override
    public boolean takesRanges() {
        RemoteChannel below = channel.accesses();
        return below != null && below.takesRanges();
    }

    @Override
    public int atomicLimitBytes() {
        return eagerLimit - RxmPacket.ATOMIC_RESPONSE_LENGTH;
    }

    @Override
    public int write(TransmitOperation operation, long length, int grant) {
        RemoteChannel below = channel.accesses();
        if (below == null) {
            return -FabricErrno.EOPNOTSUPP;
        }
        // the operation may be over when the call returns
        long id = operation.id();
        boolean isToConfirm = (operation.flags & Flags.DELIVERY_COMPLETE) != 0 && !channel.confirmsDelivery();
        int result = channel.write(below, operation, length, grant);
        if (result == Channel.DONE && isToConfirm) {
            deliveries.put(id, BOTH);
            confirm(id, OF_WRITE);
        }
        return result;
    }

    /** Who is notified of accesses by a channel below that does not confirm the delivery of writes. */
    RemoteHandler accesses() {
        return ends;
    }

    /** One of the two ends of a write has come: that of the card, or the answer of the peer behind it. */
    private void onHalf(long operation) {
        if (deliveries.remove(operation) == BOTH) {
            deliveries.put(operation, ONE);
        } else {
            channel.handler().remoteHandler().onEnded(operation, 0);
        }
    }

    /** The engine's handler, but for the ends of writes that wait for the answer of the peer. */
    private final class Ends extends RemoteHandler {
        private RemoteHandler engine() {
            return channel.handler().remoteHandler();
        }

        @Override
        public void onEnded(long operation, int errno) {
            if (errno == 0 && deliveries.containsKey(operation)) {
                onHalf(operation);
            } else {
                deliveries.remove(operation);
                engine().onEnded(operation, errno);
            }
        }

        @Override
        public void onWrite(RemoteAccess written, long offset, long source, long length) {
            engine().onWrite(written, offset, source, length);
        }

        @Override
        public void onShortWrite(RemoteAccess written, long source) {
            engine().onShortWrite(written, source);
        }

        @Override
        public void onPlaced(long count) {
            engine().onPlaced(count);
        }

        @Override
        public void onAnnouncedWrite(RemoteAccess written, RemotePayload payload) {
            engine().onAnnouncedWrite(written, payload);
        }

        @Override
        public void onRead(RemoteAccess read) {
            engine().onRead(read);
        }

        @Override
        public void onAtomic(RemoteAccess request, long operands, long length) {
            engine().onAtomic(request, operands, length);
        }

        @Override
        public void onReply(
            long operation, int errno, boolean reports, long offset, long source, long length) {
            engine().onReply(operation, errno, reports, offset, source, length);
        }

        @Override
        public int find(RemoteRanges ranges, long right, PieceList pieces) {
            return engine().find(ranges, right, pieces);
        }

        @Override
        public boolean begin(long right, boolean hasData) {
            return engine().begin(right, hasData);
        }

        @Override
        public void end(RemoteRanges ranges, long right, boolean hasData, long data) {
            engine().end(ranges, right, hasData, data);
        }

        /** The link does not offer commits: the channel below would get no reply of the engine. */
        @Override
        public int commitRefusal(RemoteRanges ranges) {
            return FabricErrno.EOPNOTSUPP;
        }

        @Override
        public void commit(RemoteRanges ranges, boolean hasData, long data, long operation) {
            throw new IllegalStateException("a commit over rxm, which refuses them");
        }
    }

    @Override
    public int read(TransmitOperation operation, int grant) {
        RemoteChannel below = channel.accesses();
        return below == null ? -FabricErrno.EOPNOTSUPP : channel.noted(below.read(operation, grant));
    }

    @Override
    public int atomic(TransmitOperation operation, int grant) {
        AtomicPart part = operation.atomic;
        long compares = part.compares.lengthBytes();
        long length = RxmPacket.HEADER_LENGTH + RxmPacket.RANGES_LENGTH + operation.length + compares;
        if (length > RxmPacket.HEADER_LENGTH + eagerLimit) {
            return -FabricErrno.EINVAL;
        }
        TransmitOperation packet = channel.next();
        if (packet == null) {
            return -FabricErrno.EAGAIN;
        }
        long room = channel.room(packet, (int) length);
        operation.copyTo(0, RxmPacket.operands(room), operation.length);
        part.compares.copyTo(0, RxmPacket.operands(room) + operation.length, compares);
        // operands that could not be read must not be executed; the packet is not taken yet
        FaultPoint.pass();
        channel.begin(room, RxmPacket.ATOMIC);
        RxmPacket.atomic(
            room, operation.id(), part.form, part.datatype, part.operation, operation.length + compares);
        RxmPacket.range(room, operation.remoteAddress, part.count, operation.key);
        int result = channel.sendNext(packet, room, (int) length);
        if (result < 0) {
            return result;
        }
        outstanding++;
        return Channel.DONE;
    }

    /** Offset and {@code reports} have no place on this wire: old values come in one piece, and nothing is reported. */
    @Override
    public int reply(
        long operation, int errno, boolean reports, long offset, long address, long length, int grant) {
        int number = (int) operation;
        if (!requests.remove(number)) {
            return Channel.DONE;
        }
        int bytes = RxmPacket.HEADER_LENGTH + RxmPacket.ATOMIC_RESPONSE_LENGTH + (int) length;
        TransmitOperation packet = answers.isEmpty() ? channel.next() : null;
        long room = packet == null ? answers.add(bytes) : channel.room(packet, bytes);
        channel.begin(room, RxmPacket.ATOMIC_RESPONSE);
        RxmPacket.atomicResponse(
            room, requests.message(number), requests.op(number), errno, (int) length);
        Words.copy(address, RxmPacket.values(room), length);
        if (packet != null && channel.sendNext(packet, room, bytes) < 0 && channel.isUp()) {
            // its memory keeps its content until the next packet is made
            Words.copy(room, answers.add(bytes), bytes);
        }
        return Channel.DONE;
    }

    /**
     * Requests a confirmation of the message that was sent last, and of all before it: an atomic operation on no
     * element. The peer takes packets in order and answers each such operation, whatever it may do.
     *
     * @param operation that {@link RxmChannel#confirmed} ends.
     */
    void confirm(long operation, long levels) {
        confirmations.put(operation, levels);
        unsent.addLong(operation);
        flushConfirmations();
    }

    private int flushConfirmations() {
        int work = 0;
        int length = RxmPacket.HEADER_LENGTH + RxmPacket.RANGES_LENGTH;
        while (!unsent.isEmpty()) {
            TransmitOperation packet = channel.next();
            if (packet == null) {
                return work;
            }
            long room = channel.room(packet, length);
            channel.begin(room, RxmPacket.ATOMIC);
            RxmPacket.atomic(room, unsent.peekLong(), AtomicForm.BASE, AtomicDatatype.UINT8.code(),
                AtomicOperation.SUM.code(), 0);
            RxmPacket.withoutRange(room);
            if (channel.sendNext(packet, room, length) < 0 || !channel.isUp()) {
                return work;
            }
            unsent.pollLong();
            outstanding++;
            work++;
        }
        return work;
    }

    /** Sends answers and requests that wait; 0 if there was no progress. */
    int flush() {
        int work = flushConfirmations();
        while (!answers.isEmpty()) {
            TransmitOperation packet = channel.next();
            if (packet == null) {
                return work;
            }
            int length = answers.firstLength();
            long room = channel.room(packet, length);
            Words.copy(answers.first(), room, length);
            if (channel.sendNext(packet, room, length) < 0 || !channel.isUp()) {
                return work;
            }
            answers.removeFirst();
            work++;
        }
        return work;
    }

    /** Whether answers of the peer are awaited, so that it must be read. */
    boolean isAwaiting() {
        return outstanding != 0;
    }

    // ---- packets of the peer ----

    /** Whether a request of the peer has to wait, so that the peer is not read. */
    boolean isFull() {
        return answers.isFull();
    }

    /** A request of the peer, in a packet of that many bytes. */
    void onRequest(long address, int length) {
        if (!channel.isUp()) {
            // the other end of the endpoint's connection to itself, whose end of the engine is closed
            return;
        }
        int ranges = RxmPacket.ranges(address);
        long operandBytes = (long) length - RxmPacket.HEADER_LENGTH - RxmPacket.RANGES_LENGTH;
        if (operandBytes < 0 || ranges > RemoteRanges.MAX_RANGES) {
            channel.broken("requested an atomic operation on " + ranges + " ranges in " + length + " bytes");
            return;
        }
        int number = requests.add(RxmPacket.message(address), RxmPacket.op(address));
        RemoteHandler engine = channel.handler().remoteHandler();
        if (engine == null) {
            reply(number, FabricErrno.EOPNOTSUPP, false, 0, 0, 0, 0);
            return;
        }
        RemoteRanges named = access.atomic(number, RxmPacket.op(address) - RxmPacket.ATOMIC_OP,
            RxmPacket.datatype(address), RxmPacket.atomicOperation(address));
        for (int i = 0; i < ranges; i++) {
            named.add(
                RxmPacket.rangeKey(address, i), RxmPacket.rangeOffset(address, i), RxmPacket.rangeCount(address, i));
        }
        engine.onAtomic(access, RxmPacket.operands(address), operandBytes);
    }

    /** An answer of the peer, in a packet of that many bytes. */
    void onResponse(long address, int length) {
        if (!channel.isUp()) {
            return;
        }
        int valueBytes = length - RxmPacket.HEADER_LENGTH - RxmPacket.ATOMIC_RESPONSE_LENGTH;
        RemoteHandler engine = channel.handler().remoteHandler();
        if (engine == null || valueBytes < 0 || valueBytes != RxmPacket.valueBytes(address)) {
            channel.broken("answered an atomic operation by " + length + " bytes, which do not fit");
            return;
        }
        outstanding -= outstanding == 0 ? 0 : 1;
        long levels = confirmations.isEmpty() ? NONE : confirmations.remove(RxmPacket.message(address));
        if (levels == OF_WRITE) {
            if (deliveries.containsKey(RxmPacket.message(address))) {
                onHalf(RxmPacket.message(address));
            }
            return;
        }
        if (levels != NONE) {
            channel.confirmed(RxmPacket.message(address), levels);
            return;
        }
        engine.onReply(
            RxmPacket.message(address), errno(RxmPacket.status(address)), false, 0, RxmPacket.values(address),
            valueBytes);
    }

    /** The errno of a status. No peer requests by FI_EAGAIN that an operation is sent again, as on our own wire. */
    private static int errno(int status) {
        if (status == 0) {
            return 0;
        }
        int errno = Math.abs(status);
        return errno > 0 && errno != FabricErrno.EAGAIN ? errno : FabricErrno.EIO;
    }

    /** Drops everything, because the channel is closed. */
    void close() {
        answers.close();
        unsent.clear();
        confirmations.clear();
        deliveries.clear();
    }
}
