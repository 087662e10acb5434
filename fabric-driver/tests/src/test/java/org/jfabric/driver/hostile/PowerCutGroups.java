package org.jfabric.driver.hostile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.Fabric;
import org.jfabric.MulticastGroup;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.driver.kit.FabricNode.Entry;
import org.jfabric.driver.kit.GroupRig;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.LogOptions;
import org.jfabric.stream.LogOptions.Visibility;
import org.jfabric.stream.LogReader;
import org.jfabric.stream.Publication;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.StreamListener;
import org.jfabric.stream.Subscription;

/**
 * Two recorded groups on a disk that loses its power. Messages of one are seen once they are synced, and its
 * subscription resumes where it was; those of the other are sent with {@code FI_COMMIT_COMPLETE}. A line says what is
 * on stable storage of a term: its first position and the one behind the last. After the cut all of that must be there,
 * in these terms.
 */
final class PowerCutGroups implements StreamListener {
    private static final int SEGMENT = 1 << 20;
    private static final int RETAINED = 4 << 20;
    private static final int WINDOW = 8;
    private static final int MESSAGES = 16;
    private static final int LONGEST = 32_000;

    /** What was on stable storage in a run before. */
    private record Range(String group, int term, long first, long end) {
        static Range of(String text) {
            String[] parts = text.split(":");
            return new Range(parts[0], Integer.parseInt(parts[1]), Long.parseLong(parts[2]), Long.parseLong(parts[3]));
        }

        boolean has(long position) {
            return position >= first && position < end;
        }
    }

    private final SplittableRandom random = new SplittableRandom();
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[LONGEST]);
    private final Publication publication;
    private final Subscription reader;
    private final FabricNode orders;
    private final MulticastGroup ordersGroup;
    private int term;
    private long first;
    private long next;
    private long sent;
    private long committed;

    /** Opens the groups, and checks what is in them: what runs before have said, words with a comma between. */
    PowerCutGroups(Fabric fabric, Path folder, String said, Runnable pump) {
        List<Range> before = Stream.of(said.split(",")).filter(each -> !each.isEmpty()).map(Range::of).toList();
        publication = Publication.on(fabric, "jfabric://driver/quotes").recordIn(folder.resolve("quotes"),
            new LogOptions().segmentLengthBytes(SEGMENT).retainBytes(RETAINED).visibility(Visibility.SYNCED)).open();
        check(folder.resolve("quotes"), of(before, "quotes"), publication.next());
        reader = resume(fabric, of(before, "quotes"));
        first = reader.position();
        next = first;
        orders = new FabricNode(fabric, "shm", GroupRig.hints(), 4 * WINDOW, 0, pump);
        ordersGroup = orders.endpoint.join("jfabric://driver/orders?log=" + folder.resolve("orders")
            + new LogOptions().segmentLengthBytes(SEGMENT).retainBytes(RETAINED), 0, Flags.SEND);
        check(folder.resolve("orders"), of(before, "orders"), ordersGroup.start());
        sent = ordersGroup.start().position();
        committed = sent;
    }

    private static List<Range> of(List<Range> all, String group) {
        return all.stream().filter(each -> each.group.equals(group)).toList();
    }

    /** The log has all that was said, each message in its term, and is continued behind it in a later term. */
    private static void check(Path folder, List<Range> before, LogPosition now) {
        List<Range> all = new ArrayList<>(before);
        try (LogReader log = LogReader.open(folder)) {
            long[] next = {log.position()};
            for (Range each : before) {
                require(each.end <= now.position() && each.term < now.term(), each + " was said, and now it is " + now);
                require(each.end > next[0] || next[0] > 0, each + " was said, and the log begins at " + next[0]);
            }
            StreamListener messages = new StreamListener() {
                @Override
                public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
                    require(header.position() == next[0], header + " instead of " + next[0]);
                    RecordedMemberMain.check(buffer, offset, length, next[0], header.term());
                    for (Range each : all) {
                        require(!each.has(next[0]) || each.term == header.term(),
                            header + " was said to be of " + each);
                    }
                    next[0]++;
                }

                @Override
                public void onGap(long firstPosition, long lastPosition) {
                    throw new AssertionError("a gap from " + firstPosition + " to " + lastPosition);
                }
            };
            while (next[0] < now.position()) {
                require(log.poll(messages, 1000) > 0, "the log ends at " + next[0] + ", and its writer is at " + now);
            }
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private Subscription resume(Fabric fabric, List<Range> before) {
        Subscription.Builder builder = Subscription.on(fabric, "jfabric://driver/quotes");
        if (before.isEmpty()) {
            return builder.fromOldest().open();
        }
        Range last = before.stream().max(Comparator.comparingInt(Range::term)).orElseThrow();
        term = last.term;
        return builder.from(new LogPosition(publication.next().logId(), last.term, last.end)).open();
    }

    // ---- until the next cut ----

    /** Writes some messages, and says what is on stable storage. */
    void step() {
        for (int i = random.nextInt(MESSAGES); i >= 0; i--) {
            int length = length();
            RecordedMemberMain.fill(message, publication.next(), length);
            int result = publication.offer(message, 0, length);
            require(result == 0 || result == -FabricErrno.EAGAIN, "offer: " + FabricErrno.name(-result));
        }
        int read = reader.poll(this, MESSAGES);
        require(read >= 0 || read == -FabricErrno.EAGAIN, "poll: " + FabricErrno.name(-read));
        if (read > 0) {
            say("quotes", term, first, next);
        }
        commit();
    }

    private int length() {
        return 16 + random.nextInt(random.nextInt(4) == 0 ? LONGEST - 16 : 200);
    }

    private void commit() {
        while (sent - committed < WINDOW) {
            int place = (int) (sent % WINDOW) * LONGEST;
            int length = length();
            UnsafeBuffer bytes = new UnsafeBuffer(orders.memory.buffer(), place, LONGEST);
            RecordedMemberMain.fill(bytes, ordersGroup.start().at(sent), length);
            int result = orders.endpoint.messages().sendmsg(orders.memory.address(place), length, 0,
                ordersGroup.fiAddr(), sent, Flags.COMPLETION | Flags.COMMIT_COMPLETE);
            require(result == 0 || result == -FabricErrno.EAGAIN, "sendmsg: " + FabricErrno.name(-result));
            if (result != 0) {
                break;
            }
            sent++;
        }
        long before = committed;
        for (Entry entry = orders.poll(); entry != null; entry = orders.poll()) {
            require(entry.err() == 0 && entry.context() == committed, committed + " should be committed: " + entry);
            committed++;
        }
        if (committed > before) {
            say("orders", ordersGroup.start().term(), ordersGroup.start().position(), committed);
        }
    }

    private static void say(String group, int ofTerm, long from, long end) {
        System.out.println(group + ' ' + ofTerm + ' ' + from + ' ' + end);
        System.out.flush();
    }

    @Override
    public void onMessage(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        require(header.position() == next && header.term() >= term, header + " at " + next + " of term " + term);
        RecordedMemberMain.check(buffer, offset, length, next, header.term());
        if (header.term() != term) {
            if (next > first) {
                say("quotes", term, first, next);
            }
            first = next;
            term = header.term();
        }
        next++;
    }

    @Override
    public void onGap(long firstPosition, long lastPosition) {
        throw new AssertionError("a gap from " + firstPosition + " to " + lastPosition);
    }
}
