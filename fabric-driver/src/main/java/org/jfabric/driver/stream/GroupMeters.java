package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.info.LogPosition;
import org.jfabric.layout.MetricLabel;
import org.jfabric.layout.WaitLabel;

/**
 * Publishes where the groups that this driver writes are, and its members of groups, in rounds ten times a second.
 * Nothing is published while messages are written and read.
 *
 * <p>A reader of another driver is published by that driver, which has its exact place; the writer's driver publishes
 * how far the slowest one is behind by what was reported, and whom the writer waits for: a reader, or the recorder.
 * Owner: progress agent.
 */
final class GroupMeters {
    private static final long PERIOD_NS = 100_000_000;
    /** Rows and readers in a duty cycle. */
    private static final int STEP = 16;
    /** Where else the address of a reader stands. */
    private static final String RECORDER = "recorder";

    private final LinkServices services;
    private final List<Row> rows = new ArrayList<>();
    private int groupsLeft;
    private int membersLeft;
    private long roundNs;
    private boolean inRound;
    private int at;

    GroupMeters(LinkServices services, DriverConfig config) {
        this.services = services;
        this.groupsLeft = config.get(MetricsConfig.ENDPOINT_LIMIT);
        this.membersLeft = config.get(MetricsConfig.PEER_LIMIT);
    }

    void open(Group group) {
        if (groupsLeft > 0) {
            groupsLeft--;
            rows.add(new GroupRow(group));
        }
    }

    void open(GroupMember member) {
        if (membersLeft > 0) {
            membersLeft--;
            rows.add(new MemberRow(member));
        }
    }

    /** A group or member has ended; nothing happens to one that has no row. */
    void close(Object ended) {
        for (int i = 0; i < rows.size(); i++) {
            Row row = rows.get(i);
            if (row.of == ended) {
                rows.remove(i);
                row.close();
                groupsLeft += row instanceof GroupRow ? 1 : 0;
                membersLeft += row instanceof MemberRow ? 1 : 0;
                return;
            }
        }
    }

    /** One step of a round, if it is time; a thread that sleeps is woken for that now and then. */
    void poll(long nowNs) {
        if (!inRound && (nowNs - roundNs >= PERIOD_NS || roundNs == 0)) {
            roundNs = nowNs;
            inRound = true;
            at = 0;
        }
        for (int i = 0; inRound && i < STEP; i++) {
            if (at >= rows.size()) {
                inRound = false;
            } else if (rows.get(at).publish()) {
                at++;
            }
        }
    }

    /** The counters of a group or of a member. */
    private abstract class Row {
        final Object of;
        private final String prefix;
        private final String[] labels;
        private final List<Long> counters = new ArrayList<>();

        Row(Object of, String prefix, String... labels) {
            this.of = of;
            this.prefix = prefix;
            this.labels = labels;
        }

        /** Makes a step; false if there are more. */
        abstract boolean publish();

        final long counter(int type, String name) {
            return open(type, MetricLabel.text(prefix + name, labels));
        }

        final long open(int type, String label) {
            long counter = services.openCounter(type, label);
            counters.add(counter);
            return counter;
        }

        void close() {
            counters.forEach(services::closeCounter);
        }

        static void set(long counter, long value) {
            if (UnsafeApi.getLong(counter) != value) {
                UnsafeApi.putLongRelease(null, counter, value);
            }
        }
    }

    private final class GroupRow extends Row {
        private final Group group;
        private final long firstPosition;
        private final long writtenMessages = counter(MetricLabel.COUNTER, "written_messages");
        private final long readerWaits = counter(MetricLabel.COUNTER, "reader_waits");
        private final long position = counter(MetricLabel.GAUGE, "position");
        private final long oldestPosition = counter(MetricLabel.GAUGE, "oldest_position");
        private final long readers = counter(MetricLabel.GAUGE, "readers");
        /** Positions behind what survives a kill of the driver, and a power cut; 0 unless it is recorded. */
        private final long recordedPosition;
        private final long syncedPosition;
        /** 0 for a group whose readers do not report: it waits for none. */
        private final long lagMessages;
        /** Readers that this round has seen, and the one that is behind most. */
        private int seen;
        private GroupReader slowest;
        /** Whom the writer has waited for in the last round. */
        private String waitedFor;
        private long waiting;

        GroupRow(Group group) {
            super(group, "jfabric_group_", "group", group.address());
            this.group = group;
            LogPosition next = group.next();
            this.firstPosition = next.position();
            set(open(MetricLabel.INFO, MetricLabel.text("jfabric_group", "group", group.address(), "writer",
                group.writer().address(), "log", next.logId().toString(), "term", String.valueOf(next.term()))), 1);
            boolean isRecorded = group.recorder() != null;
            this.recordedPosition = isRecorded ? counter(MetricLabel.GAUGE, "recorded_position") : 0;
            this.syncedPosition = isRecorded ? counter(MetricLabel.GAUGE, "synced_position") : 0;
            this.lagMessages = group.isLossy() ? 0 : counter(MetricLabel.GAUGE, "lag_messages");
        }

        @Override
        boolean publish() {
            if (seen < group.readers().size()) {
                GroupReader reader = group.readers().get(seen++);
                slowest = slowest == null || reader.position() < slowest.position() ? reader : slowest;
                return false;
            }
            set(writtenMessages, group.position() - firstPosition);
            set(readerWaits, group.waits());
            set(position, group.position());
            set(oldestPosition, group.oldest());
            set(readers, group.readers().size());
            long lag = slowest == null ? 0 : group.position() - slowest.position();
            if (lagMessages != 0) {
                set(lagMessages, lag);
            }
            if (recordedPosition != 0) {
                set(recordedPosition, group.recorder().writtenPosition());
                set(syncedPosition, group.recorder().syncedPosition());
            }
            if (group.waitsForRecorder()) {
                publishWait(RECORDER, group.position() - group.recorder().writtenPosition());
            } else {
                publishWait(slowest != null && group.waitsFor(slowest) ? slowest.address() : null, lag);
            }
            seen = 0;
            slowest = null;
            return true;
        }

        /** A wait is shown from the second round on: a fast writer waits for moments again and again. */
        private void publishWait(String reader, long lag) {
            if (!Objects.equals(reader, waitedFor)) {
                closeWait();
                waitedFor = reader;
            } else if (reader != null) {
                if (waiting == 0) {
                    waiting = services.openCounter(
                        MetricLabel.GAUGE, WaitLabel.READER.text(group.address(), reader));
                }
                set(waiting, lag);
            }
        }

        private void closeWait() {
            if (waiting != 0) {
                services.closeCounter(waiting);
                waiting = 0;
            }
        }

        @Override
        void close() {
            closeWait();
            super.close();
        }
    }

    private final class MemberRow extends Row {
        private final GroupMember member;
        private final long position = counter(MetricLabel.GAUGE, "position");
        private final long lostMessages = counter(MetricLabel.COUNTER, "lost_messages");
        /** Seconds since 1970. */
        private final long movedTime = counter(MetricLabel.GAUGE, "moved_time_seconds");
        private long published = -1;

        MemberRow(GroupMember member) {
            super(member, "jfabric_reader_", "group", member.group(), "reader", member.endpoint().address());
            this.member = member;
        }

        @Override
        boolean publish() {
            if (published != member.position()) {
                published = member.position();
                set(position, published);
                set(movedTime, TimeUnit.MILLISECONDS.toSeconds(services.environment().currentTimeMillis()));
            }
            set(lostMessages, member.lostMessages());
            return true;
        }
    }
}
