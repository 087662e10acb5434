package org.jfabric.driver.conformance.other;

import static org.jfabric.driver.conformance.other.TimestampTest.assertIn;
import static org.jfabric.driver.conformance.other.TimestampTest.nowNs;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.kit.LossyRelay;
import org.jfabric.driver.kit.StreamHosts;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.TimestampClock;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;
import org.jfabric.test.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Times of arrival of messages of streams between hosts. */
@Tag("conformance")
@Timeout(120)
class StreamTimestampTest {
    private static final long SEED = 4711;
    /** Does not fit into a datagram. */
    private static final int LONG_MESSAGE = 5_000;

    /** Of a stream of another host, in the header that a handler gets. */
    @Test
    void shouldSayWhenAMessageOfAStreamArrived() {
        try (StreamHosts hosts = new StreamHosts()) {
            Publication publication = hosts.keep(hosts.publication().open());
            Subscription timed = hosts.keep(hosts.subscription().timestamps(TimestampClock.SYSTEM).open());
            Subscription plain = hosts.keep(hosts.subscription().open());
            UnsafeBuffer message = new UnsafeBuffer(new byte[LONG_MESSAGE]);
            // short ones, one that is tagged and has data, and one that is sent in fragments
            int[] lengths = {0, 8, 31, 100, LONG_MESSAGE};
            long before = 0;
            for (int i = 0; before == 0 || i < 500; i++) {
                int length = lengths[i % lengths.length];
                message.putLong(0, i);
                long fromNs = nowNs();
                while (publication.offer(message, 0, length) == -FabricErrno.EAGAIN) {
                    Thread.onSpinWait();
                }
                long[] seen = {-1, 0};
                int number = i;
                StreamListener listener = (buffer, offset, bytes, header) -> {
                    assertEquals(length, bytes);
                    assertEquals(number, header.position());
                    assertTrue(bytes < 8 || buffer.getLong(offset) == number);
                    seen[0] = header.arrivedNs();
                };
                Deadline.await("message " + i, () -> timed.poll(listener, 1) == 1, timed::toString);
                long toNs = nowNs();
                seen[1] = seen[0];
                Deadline.await("message " + i, () -> plain.poll(listener, 1) == 1, plain::toString);
                assertEquals(0, seen[0]);
                if (before != 0 || seen[1] != 0) {
                    assertIn(Math.max(before, fromNs), seen[1], toNs);
                    before = seen[1];
                }
            }
        }
    }

    /** Many at once: those that wait behind a gap or for room in the ring keep their times. */
    @Test
    void shouldKeepTheTimesOfMessagesThatWait() {
        try (StreamHosts hosts = new StreamHosts(); LossyRelay relay = new LossyRelay(hosts.port, SEED, 20)) {
            Publication publication = hosts.keep(hosts.publication().open());
            Subscription timed = hosts.keep(
                hosts.subscription(relay.port()).timestamps(TimestampClock.SYSTEM).open());
            int count = 20_000;
            UnsafeBuffer message = new UnsafeBuffer(new byte[8]);
            long[] seen = {0, 0, 0};
            StreamListener listener = (buffer, offset, length, header) -> {
                assertEquals(seen[0], header.position());
                seen[0]++;
                seen[1] += header.arrivedNs() == 0 ? 0 : 1;
                // sent before it arrived
                assertTrue(header.arrivedNs() == 0 || buffer.getLong(offset) <= header.arrivedNs(), header::toString);
            };
            Deadline.await("all messages", () -> {
                while (seen[2] < count) {
                    message.putLong(0, nowNs());
                    if (publication.offer(message, 0, 8) < 0) {
                        break;
                    }
                    seen[2]++;
                }
                timed.poll(listener, 64);
                return seen[0] == count;
            }, () -> timed + ", seed " + SEED + ", " + seen[0] + " of " + seen[2]);
            assertTrue(seen[1] > count / 2, () -> "with a time: " + seen[1]);
        }
    }

    @Test
    void shouldRefuseTimesOfStreamsThatHaveNone() {
        try (StreamHosts hosts = new StreamHosts()) {
            hosts.keep(hosts.publication().open());
            assertEquals(FabricErrno.ENODATA, assertThrows(FabricException.class, () -> Subscription.on(
                hosts.writing, hosts.group()).timestamps(TimestampClock.SYSTEM).open()).errno());
            FabricException card = assertThrows(FabricException.class,
                () -> hosts.subscription().timestamps(TimestampClock.CARD).open());
            assertEquals(FabricErrno.ENODATA, card.errno());
            assertTrue(card.getMessage().contains("no clock of its own"), card::getMessage);
            assertEquals(FabricErrno.EINVAL, assertThrows(FabricException.class, () -> Subscription.on(
                hosts.reading, hosts.stream(hosts.port) + "?times=moon").open()).errno());
        }
    }
}
