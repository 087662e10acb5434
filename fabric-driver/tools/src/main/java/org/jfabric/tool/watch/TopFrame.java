package org.jfabric.tool.watch;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.jfabric.tool.GroupView;
import org.jfabric.tool.watch.TopColumn.Row;

/** One frame of {@code fabric top} as lines: drivers, slowest cycles first; who waits for whom; endpoints. */
final class TopFrame {
    private static final List<String> DRIVER_TITLES = List.of("DRIVER", "STATE", "UP", "SENT/S", "ERRORS", "CYCLE",
        "99 %", "MAX", "LONGEST", "SLOW", "CLIENTS", "ENDPOINTS", "PROCESS");
    /** Negative: the text stands left. */
    private static final int[] DRIVER_WIDTHS = {-14, -10, 7, 7, 7, 7, 7, 7, 8, 6, 8, 10, 8};
    private static final int WAITS_SHOWN = 8;
    private static final int GROUPS_SHOWN = 8;
    private static final int READERS_SHOWN = 4;
    private static final List<String> GROUP_TITLES =
        List.of("POSITION", "LAG", "LOST", "STILL", "READERS", "OLDEST", "WAITS");
    private static final int[] GROUP_WIDTHS = {14, 7, 7, 8, 8, 14, 7};
    private static final int LEAST_GROUP_NAME = 24;

    /** How a line is shown; a terminal without colours shows all alike. */
    enum Style {
        PLAIN, TITLE, HEADER, FLOWING, WAITING, BAD, DIM;

        static Style of(QueueState state) {
            return switch (state) {
                case IDLE -> DIM;
                case FLOWING -> FLOWING;
                case WAITING -> WAITING;
                case STUCK, DOWN -> BAD;
            };
        }
    }

    /**
     * A line of the frame.
     *
     * @param text  without line break.
     */
    record Line(String text, Style style) {
    }

    private final Sample sample;
    private final TopView view;
    private final int width;
    private final List<Line> lines = new ArrayList<>();

    private TopFrame(Sample sample, TopView view, int width) {
        this.sample = sample;
        this.view = view;
        this.width = width;
    }

    /**
     * Makes a frame.
     *
     * @param width characters of a line at most.
     */
    static List<Line> of(Sample sample, TopView view, int width) {
        TopFrame frame = new TopFrame(sample, view, width);
        frame.title();
        frame.drivers();
        frame.waits();
        frame.groups();
        frame.endpoints();
        return frame.lines;
    }

    private void title() {
        long clients = sample.drivers().stream().mapToLong(driver -> driver.clients().size()).sum();
        long endpoints = sample.drivers().stream().mapToLong(driver -> driver.endpoints().size()).sum();
        add(String.format(Locale.ROOT, "%s  %s, %s, %s; over %.1f s", Instant.ofEpochMilli(sample.timeMs())
            .truncatedTo(ChronoUnit.SECONDS), count(sample.drivers().size(), "driver"), count(clients, "client"),
            count(endpoints, "endpoint"), sample.seconds()), Style.TITLE);
    }

    private void drivers() {
        add(driverLine(DRIVER_TITLES), Style.HEADER);
        List<Sample.Driver> bySlowest = new ArrayList<>(sample.drivers());
        bySlowest.sort(Comparator.comparingLong((Sample.Driver driver) ->
            driver.cycles() == null ? -1 : driver.cycles().maxNs()).reversed());
        for (Sample.Driver driver : bySlowest) {
            if (driver.state() == Sample.State.UNREADABLE) {
                add(driver.name() + ": " + driver.problem(), Style.BAD);
                continue;
            }
            Sample.Cycles cycles = driver.cycles() == null ? new Sample.Cycles(0, -1, -1, -1) : driver.cycles();
            boolean isAlive = driver.state().isAlive();
            add(driverLine(List.of(TopColumn.cut(driver.name(), 14), driver.state().text(),
                isAlive ? Figures.duration((sample.timeMs() - driver.startMs()) / 1e3) : "-",
                Figures.number(driver.rate("sent_messages")), Figures.number(driver.total("errors")),
                Figures.time(cycles.medianNs()), Figures.time(cycles.p99Ns()), Figures.time(cycles.maxNs()),
                Figures.time(driver.total("cycle_max_seconds")), Figures.number(driver.total("slow_cycles")),
                String.valueOf(driver.clients().size()), String.valueOf(driver.endpoints().size()),
                String.valueOf(driver.pid()))), isAlive ? Style.PLAIN : Style.BAD);
        }
    }

    /** As many cells as fit. */
    private String driverLine(List<String> cells) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.size() && line.length() + 1 + Math.abs(DRIVER_WIDTHS[i]) <= width; i++) {
            String cell = String.format(Locale.ROOT, "%" + DRIVER_WIDTHS[i] + "s", cells.get(i));
            line.append(i == 1 ? " " : "").append(cell);
        }
        return line.toString().stripTrailing();
    }

    private void waits() {
        List<Sample.Wait> waits = sample.waits();
        if (waits.isEmpty()) {
            return;
        }
        add("", Style.PLAIN);
        add("WHO WAITS FOR WHOM", Style.HEADER);
        for (Sample.Wait wait : waits.subList(0, Math.min(WAITS_SHOWN, waits.size()))) {
            add(wait.who() + " waits for " + wait.forWhom() + ": " + wait.why() + ", "
                + Figures.duration(wait.seconds()), Style.WAITING);
        }
        if (waits.size() > WAITS_SHOWN) {
            add("and " + (waits.size() - WAITS_SHOWN) + " more", Style.DIM);
        }
    }

    private void groups() {
        List<GroupView> groups = sample.groups().stream()
            .filter(group -> group.contains(view.filter().toLowerCase(Locale.ROOT))).toList();
        if (groups.isEmpty()) {
            return;
        }
        add("", Style.PLAIN);
        add(groupLine("GROUP", GROUP_TITLES), Style.HEADER);
        for (GroupView group : groups.subList(0, Math.min(GROUPS_SHOWN, groups.size()))) {
            boolean isSeen = group.writer() != null;
            add(groupLine(group.address() + (isSeen ? " of " + group.writer() : ", writer not seen"), List.of(
                isSeen ? String.valueOf(group.value("position")) : "-", lag(group.lag()), "", "",
                isSeen ? String.valueOf(group.value("readers")) : "-",
                isSeen ? String.valueOf(group.value("oldest_position")) : "-",
                Figures.number(group.value("reader_waits")))),
                group.heldBackBy() == null ? Style.PLAIN : Style.WAITING);
            if (group.recording() != null) {
                recording(group.recording());
            }
            hosts(group);
            List<GroupView.Reader> readers = view.hasPeers() ? group.readers() : List.of();
            for (GroupView.Reader reader : readers.subList(0, Math.min(READERS_SHOWN, readers.size()))) {
                boolean holds = reader.address().equals(group.heldBackBy());
                add(groupLine("  > " + reader.address() + (holds ? " holds it back" : ""), List.of(
                    String.valueOf(reader.position()), lag(reader.lag()), Figures.number(reader.lost()),
                    still(reader.stillMs()), "", "", "")),
                    holds ? Style.WAITING : Style.PLAIN);
            }
            if (readers.size() > READERS_SHOWN) {
                add("  and " + (readers.size() - READERS_SHOWN) + " more that are less behind", Style.DIM);
            }
        }
        if (groups.size() > GROUPS_SHOWN) {
            add("and " + (groups.size() - GROUPS_SHOWN) + " more groups", Style.DIM);
        }
    }

    /** Hosts at both ends of a stream. */
    private void hosts(GroupView group) {
        if (group.stream() != null) {
            add("      " + group.stream(), group.value("lost_messages") == 0 ? Style.PLAIN : Style.BAD);
        }
        List<GroupView.Host> hosts = view.hasPeers() ? group.hosts() : List.of();
        for (GroupView.Host host : hosts.subList(0, Math.min(READERS_SHOWN, hosts.size()))) {
            boolean holds = host.address().equals(group.heldBackBy());
            Style style = holds ? Style.WAITING : Style.PLAIN;
            add(groupLine("  > host " + host.driver() + " at " + host.address() + (holds ? " holds it back" : ""),
                List.of(String.valueOf(host.position()), lag(host.lag()), "", "", "", "", "")), style);
            add("      " + (host.rate() < 0 ? "" : Figures.number(host.rate()) + "B/s, ") + host.text(), style);
        }
        if (hosts.size() > READERS_SHOWN) {
            add("  and " + (hosts.size() - READERS_SHOWN) + " more hosts that are less behind", Style.DIM);
        }
    }

    private void recording(GroupView.Recording log) {
        Style style = log.problem() == null ? Style.PLAIN : Style.BAD;
        add(groupLine("  log " + log.folder(), List.of(String.valueOf(log.written()), lag(log.lag()),
            Figures.number(log.dropped()), still(log.stillMs()), "", "", "")), style);
        add("      " + log.text(), style);
    }

    private static String still(long ms) {
        return ms == 0 ? "" : Figures.duration(ms / 1e3);
    }

    private static String lag(long messages) {
        return messages < 0 ? "-" : Figures.number(messages);
    }

    /** The name, and as many cells as fit behind it. */
    private String groupLine(String name, List<String> cells) {
        int left = width - LEAST_GROUP_NAME;
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.size() && line.length() + 1 + GROUP_WIDTHS[i] <= left; i++) {
            line.append(String.format(Locale.ROOT, " %" + GROUP_WIDTHS[i] + "s", cells.get(i)));
        }
        int room = width - line.length();
        String fitted = TopColumn.cutAddress(name, room);
        return (fitted + " ".repeat(room - fitted.length()) + line).stripTrailing();
    }

    private void endpoints() {
        add("", Style.PLAIN);
        List<TopColumn> columns = TopColumn.fitting(width);
        add(TopColumn.header(columns, width, view.sort(), view.isReverse()), Style.HEADER);
        List<Group> groups = new ArrayList<>();
        for (Sample.Driver driver : sample.drivers()) {
            for (Sample.Endpoint endpoint : driver.endpoints()) {
                Group group = new Group(Row.of(endpoint, client(driver, endpoint.client())),
                    endpoint.peers().stream().map(Row::of).toList());
                if (view.filter().isEmpty() || group.contains(view.filter().toLowerCase(Locale.ROOT))) {
                    groups.add(group);
                }
            }
        }
        Comparator<Row> order = view.isReverse() ? view.sort().order().reversed() : view.sort().order();
        groups.sort(Comparator.comparing(Group::endpoint, order));
        for (Group group : groups) {
            add(TopColumn.line(columns, width, group.endpoint), Style.of(group.endpoint.state()));
            if (view.hasPeers()) {
                for (Row peer : group.peers) {
                    add(TopColumn.line(columns, width, peer), Style.of(peer.state()));
                }
            }
        }
        if (groups.isEmpty()) {
            add(view.filter().isEmpty() ? "no endpoint" : "no endpoint contains \"" + view.filter() + '"', Style.DIM);
        }
    }

    private static String client(Sample.Driver driver, String id) {
        return driver.clients().stream().filter(client -> client.id().equals(id) && !client.name().isEmpty())
            .map(Sample.Client::name).findFirst().orElse(id);
    }

    private void add(String text, Style style) {
        lines.add(new Line(TopColumn.cut(text, width), style));
    }

    private static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /** An endpoint and its peers. */
    private record Group(Row endpoint, List<Row> peers) {
        boolean contains(String text) {
            return contains(endpoint, text) || peers.stream().anyMatch(peer -> contains(peer, text));
        }

        private static boolean contains(Row row, String text) {
            return (row.text() + ' ' + row.client() + ' ' + row.state().text()).toLowerCase(Locale.ROOT)
                .contains(text);
        }
    }
}
