package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AddressVector;
import org.jfabric.CompletionError;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.CompletionFormat;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.test.Deadline;

/** An endpoint at the pair's second application with a queue of any format, which shows every member of its entries. */
public final class PeekNode implements AutoCloseable {
    public static final long ANY = FabricAddress.ADDR_UNSPEC;
    public static final long SENT = 7_000;
    private static final long DEADLINE_NS = Deadline.ns(20);

    public final FabricPair pair;
    public final FabricNode sender;
    public final CompletionQueue queue;
    public final AddressVector vector;
    public final Endpoint endpoint;
    /** This endpoint in the sender's vector. */
    public final long address;
    /** The sender in this endpoint's vector. */
    public final long source;
    private final CompletionError error = new CompletionError();
    private Entry taken;

    /** An entry; err is 0 for success. */
    public record Entry(
        long context, long flags, long len, long buf, long data, long tag, long source, int err, long olen) {
    }

    public PeekNode(FabricPair pair) {
        this(pair, pair.a, CompletionFormat.TAGGED, 0);
    }

    public PeekNode(FabricPair pair, FabricNode sender, CompletionFormat format, long bindFlags) {
        this.pair = pair;
        this.sender = sender;
        queue = pair.b.domain.openCompletionQueue(new CompletionQueueAttr().size(256).format(format));
        vector = pair.b.domain.openAddressVector(new AddressVectorAttr());
        endpoint = pair.b.domain.openEndpoint(pair.b.info);
        endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV | bindFlags);
        endpoint.bind(vector);
        endpoint.enable();
        address = sender.av.insert(endpoint.name());
        source = vector.insert(sender.endpoint.name());
    }

    /** Sends a message with data; its bytes come from the seed. */
    public void send(boolean tagged, long tag, int length, int seed) {
        sender.fill(0, length, seed);
        Endpoint from = sender.endpoint;
        long buf = sender.memory.address(0);
        assertEquals(0, tagged ? from.messages().tsenddata(buf, length, seed, address, tag, SENT)
            : from.messages().senddata(buf, length, seed, address, SENT));
    }

    /** Sends a tagged message that fits the eager limit, and waits until its buffer is free. */
    public void send(long tag, int length, int seed) {
        send(true, tag, length, seed);
        sender.await(SENT);
    }

    public int peek(long buf, long len, long tag, long context, long flags) {
        return endpoint.messages().trecvmsg(buf, len, ANY, tag, 0, context, flags | Flags.PEEK);
    }

    /** Peeks until the message has come, with the flags and without a buffer. */
    public Entry find(boolean tagged, long tag, long context, long flags) {
        return find(tagged, tag, 0, 0, context, flags);
    }

    public Entry find(boolean tagged, long tag, long buf, long len, long context, long flags) {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (true) {
            int result = tagged ? peek(buf, len, tag, context, flags)
                : endpoint.messages().recvmsg(buf, len, ANY, context, flags | Flags.PEEK);
            assertEquals(0, result);
            Entry entry = await();
            assertEquals(context, entry.context);
            if (entry.err != FabricErrno.ENOMSG) {
                assertEquals(0, entry.err, entry::toString);
                return entry;
            }
            assertTrue(System.nanoTime() - deadline < 0, "the message does not come to " + endpoint);
            step();
        }
    }

    public Entry find(long tag) {
        return find(true, tag, 1, 0);
    }

    /** The next entry. */
    public Entry await() {
        long deadline = System.nanoTime() + DEADLINE_NS;
        while (true) {
            Entry entry = poll();
            if (entry != null) {
                return entry;
            }
            assertTrue(System.nanoTime() - deadline < 0, "no entry in " + queue);
            step();
        }
    }

    /** The next entry, which must be a success with that context. */
    public Entry await(long context) {
        Entry entry = await();
        assertEquals(0, entry.err, entry::toString);
        assertEquals(context, entry.context, entry::toString);
        return entry;
    }

    /** The next entry, which must be an error with that context. */
    public Entry awaitError(long context, int errno) {
        Entry entry = await();
        assertEquals(FabricErrno.name(errno), FabricErrno.name(entry.err), entry::toString);
        assertEquals(context, entry.context, entry::toString);
        return entry;
    }

    public void assertQuiet(int rounds) {
        for (int i = 0; i < rounds; i++) {
            Entry entry = poll();
            if (entry != null) {
                throw new AssertionError("unexpected " + entry);
            }
            step();
        }
    }

    /** A place in the receiver's memory, whose bytes are marked as untouched. */
    public long place(int offset, int length) {
        UnsafeBuffer memory = pair.b.memory.buffer();
        memory.setMemory(offset, length, (byte) 0x5A);
        return pair.b.memory.address(offset);
    }

    public void assertUntouched(int offset, int length) {
        for (int i = 0; i < length; i++) {
            assertEquals(0x5A, pair.b.memory.buffer().getByte(offset + i), "byte " + (offset + i));
        }
    }

    public void step() {
        // an embedded peer goes on only when it is called
        pair.a.cq.read(null, 0, 0);
        Thread.yield();
    }

    private Entry poll() {
        taken = null;
        int result = queue.poll(
            c -> taken = new Entry(
                c.opContext(), c.flags(), c.len(), c.buf(), c.data(), c.tag(), c.srcAddr(), 0, 0), 1);
        if (result == -FabricErrno.EAVAIL) {
            assertEquals(1, queue.readErr(error, 0));
            return new Entry(error.opContext(), error.flags(), error.len(), error.buf(), error.data(), error.tag(),
                error.srcAddr(), error.err(), error.olen());
        }
        assertTrue(result >= 0 || result == -FabricErrno.EAGAIN, () -> "poll answered " + FabricErrno.name(result));
        return taken;
    }

    @Override
    public void close() {
        endpoint.close();
        vector.close();
        queue.close();
    }
}
