package org.jfabric.driver.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;

/** The messages of a stream, each of which depends on its position, and their readers. */
public final class NumberedMessages {
    private final UnsafeBuffer bytes = new UnsafeBuffer(new byte[8192]);

    /** A port that no socket has, of UDP or TCP: a recorded stream needs both. */
    public static int freePort() {
        InetAddress host = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(0, 1, host);
            DatagramSocket socket = new DatagramSocket(server.getLocalPort(), host)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Takes messages that must come in order without a hole but for the gaps that are named. */
    public static final class Reader implements StreamListener {
        public final Subscription subscription;
        public long next;
        public long gaps;
        public int end;

        public Reader(Subscription subscription) {
            this.subscription = subscription;
            this.next = subscription.position();
        }

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
            assertEquals(next, header.position());
            assertEquals(length(next), length);
            FabricNode.assertPattern(buffer, offset, length, (int) next, 0);
            next++;
        }

        @Override
        public void onGap(long first, long last) {
            assertEquals(next, first);
            gaps += last - first + 1;
            next = last + 1;
        }

        public void poll() {
            int result = subscription.poll(this, 16);
            end = result < 0 && result != -FabricErrno.EAGAIN ? -result : end;
        }

        @Override
        public String toString() {
            return "next " + next + ", gaps " + gaps + ", end " + FabricErrno.name(end);
        }
    }

    /** Most are short; some take several datagrams. */
    public static int length(long position) {
        return position % 97 == 3 ? 3000 + (int) (position % 1000) : (int) (position % 120);
    }

    /** Offers the next message; false if there is no room. */
    public boolean offer(Publication publication) {
        long position = publication.position();
        int length = length(position);
        bytes.putBytes(0, FabricNode.pattern((int) position, 0, length));
        int result = publication.offer(bytes, 0, length);
        assertTrue(result == 0 || result == -FabricErrno.EAGAIN, () -> FabricErrno.name(-result));
        return result == 0;
    }

    /** Writes and reads until each reader has everything before a position. */
    public void stream(Publication publication, long until, Reader... readers) {
        Deadline.await("messages to " + until, () -> {
            boolean isDone = publication.position() >= until;
            if (!isDone) {
                offer(publication);
            }
            for (Reader reader : readers) {
                reader.poll();
                isDone &= reader.next >= until;
                assertEquals(0, reader.end, () -> FabricErrno.name(reader.end));
            }
            return isDone;
        }, () -> publication + " " + List.of(readers));
    }

    /**
     * The reader has missed what the path did not bring while it was cut, and gets every message that is written one
     * by one afterwards. Which message ends the gap depends on how fast the reader is: it continues with the newest.
     */
    public void assertGapEnds(Publication publication, Reader reader) {
        stream(publication, publication.position() + 100, reader);
        long lost = reader.gaps;
        assertTrue(lost > 1_000, reader::toString);
        for (int i = 0; i < 100; i++) {
            stream(publication, publication.position() + 1, reader);
        }
        assertEquals(lost, reader.gaps, reader::toString);
    }

    /** Reads until the stream ends, with that errno. */
    public static void awaitEnd(Reader reader, int errno) {
        Deadline.await("the end", () -> {
            reader.poll();
            return reader.end != 0;
        }, reader::toString);
        assertEquals(FabricErrno.name(errno), FabricErrno.name(reader.end));
    }
}
