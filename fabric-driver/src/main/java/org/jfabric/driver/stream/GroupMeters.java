package org.jfabric.driver.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.agrona.UnsafeApi;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.MetricsConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.stream.net.RemoteReader;
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
            if (group.recorder() != null) {
                rows.add(new RecordingRow(group));
            }
            if (group.name().network() != null) {
                rows.add(new HostsRow(group));
            }
        }
    }

    /** The ring of a group of another host is there. */
    void open(Group group, NetworkReader reader) {
        if (rows.stream().anyMatch(row -> row.of == group)) {
            rows.add(new StreamRow(group, reader));
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
        rows.removeIf(row -> {
            if (row.of == ended) {
                row.close();
                groupsLeft += row instanceof GroupRow ? 1 : 0;
                membersLeft += row instanceof MemberRow ? 1 : 0;
            }
            return row.of == ended;
        });
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
                group.writerAddress(), "log", next.logId().toString(), "term", String.valueOf(next.term()))), 1);
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
            long lag = Math.max(slowest == null ? 0 : group.position() - slowest.position(), hostLag());
            RemoteReader host = group.awaitedHost();
            if (lagMessages != 0) {
                set(lagMessages, lag);
            }
            if (group.waitsForRecorder()) {
                publishWait(RECORDER, group.position() - group.recorder().writtenPosition());
            } else if (host != null) {
                publishWait(host.address(), group.position() - host.received());
            } else if (group.absentHost() != null) {
                publishWait(group.absentHost(), lag);
            } else {
                publishWait(slowest != null && group.waitsFor(slowest) ? slowest.address() : null, lag);
            }
            seen = 0;
            slowest = null;
            return true;
        }

        private long hostLag() {
            long lag = 0;
            for (RemoteReader host : group.hosts()) {
                lag = Math.max(lag, group.position() - host.received());
            }
            return lag;
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

    /** The log of a recorded group. */
    private final class RecordingRow extends Row {
        private final GroupRecorder recorder;
        /** Positions behind what survives a kill of the driver, and a power cut. */
        private final long recordedPosition = counter(MetricLabel.GAUGE, "recorded_position");
        private final long syncedPosition = counter(MetricLabel.GAUGE, "synced_position");
        private final long recordedTime = counter(MetricLabel.GAUGE, "recorded_time_seconds");
        private final long diskBytes = counter(MetricLabel.GAUGE, "disk_bytes");
        private final long diskFull = counter(MetricLabel.GAUGE, "disk_full");
        private final long droppedMessages = counter(MetricLabel.COUNTER, "dropped_messages");
        private long published = -1;

        RecordingRow(Group group) {
            super(group, "jfabric_group_", "group", group.address());
            this.recorder = group.recorder();
            set(open(MetricLabel.INFO, MetricLabel.text("jfabric_group_recording", "group", group.address(), "folder",
                group.name().logFolder(), "when_full",
                group.name().options().whenFull().name().toLowerCase(Locale.ROOT))), 1);
        }

        @Override
        boolean publish() {
            if (published != recorder.writtenPosition()) {
                published = recorder.writtenPosition();
                set(recordedPosition, published);
                set(recordedTime, TimeUnit.MILLISECONDS.toSeconds(services.environment().currentTimeMillis()));
            }
            set(syncedPosition, recorder.syncedPosition());
            set(diskBytes, recorder.diskBytes());
            set(diskFull, recorder.isDiskFull() ? 1 : 0);
            set(droppedMessages, recorder.droppedMessages());
            return true;
        }
    }

    /** The hosts that read a group from this one. */
    private final class HostsRow extends Row {
        private final Group group;
        private final long hosts = counter(MetricLabel.GAUGE, "hosts");
        private final List<HostRow> shown = new ArrayList<>();

        HostsRow(Group group) {
            super(group, "jfabric_group_", "group", group.address());
            this.group = group;
        }

        @Override
        boolean publish() {
            List<RemoteReader> all = group.hosts();
            set(hosts, all.size());
            for (int i = shown.size() - 1; i >= 0; i--) {
                if (!all.contains(shown.get(i).host)) {
                    close(shown.remove(i));
                }
            }
            for (RemoteReader host : all) {
                if (membersLeft > 0 && shown.stream().noneMatch(each -> each.host == host)) {
                    membersLeft--;
                    shown.add(new HostRow(group, host));
                }
            }
            shown.forEach(HostRow::publish);
            return true;
        }

        private void close(HostRow row) {
            row.close();
            membersLeft++;
        }

        @Override
        void close() {
            shown.forEach(this::close);
            super.close();
        }
    }

    /** A host that reads a group from this one. */
    private final class HostRow extends Row {
        private final RemoteReader host;
        private final long position = counter(MetricLabel.GAUGE, "position");
        private final long datagramBytes = counter(MetricLabel.COUNTER, "datagram_bytes");
        private final long askedRanges = counter(MetricLabel.COUNTER, "asked_ranges");
        private final long repairs = counter(MetricLabel.COUNTER, "repairs");
        private final long repairBytes = counter(MetricLabel.COUNTER, "repair_bytes");
        private final long roundTripNs = counter(MetricLabel.GAUGE, "round_trip_ns");

        HostRow(Group group, RemoteReader host) {
            super(host, "jfabric_host_", "group", group.address(), "host", host.address(), "driver", host.name());
            this.host = host;
        }

        @Override
        boolean publish() {
            set(position, host.received());
            set(datagramBytes, host.sentBytes());
            set(askedRanges, host.askedRanges());
            set(repairs, host.repairedDatagrams());
            set(repairBytes, host.repairedBytes());
            set(roundTripNs, host.roundTripNs());
            return true;
        }
    }

    /** A group that this driver reads from another host. */
    private final class StreamRow extends Row {
        private final NetworkReader reader;
        private final long lostMessages = counter(MetricLabel.COUNTER, "lost_messages");
        private final long askedRanges = counter(MetricLabel.COUNTER, "asked_ranges");
        private final long repeatedMessages = counter(MetricLabel.COUNTER, "repeated_messages");
        private final long roundTripNs = counter(MetricLabel.GAUGE, "round_trip_ns");

        StreamRow(Group group, NetworkReader reader) {
            super(group, "jfabric_group_", "group", group.address());
            this.reader = reader;
        }

        @Override
        boolean publish() {
            set(lostMessages, reader.lostMessages());
            set(askedRanges, reader.requests());
            set(repeatedMessages, reader.duplicates());
            set(roundTripNs, reader.roundTripNs());
            return true;
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
            long next = member.position();
            if (published != next) {
                published = next;
                set(position, next);
                set(movedTime, TimeUnit.MILLISECONDS.toSeconds(services.environment().currentTimeMillis()));
            }
            set(lostMessages, member.lostMessages());
            return true;
        }
    }
}
