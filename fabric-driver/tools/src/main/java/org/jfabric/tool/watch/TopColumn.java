package org.jfabric.tool.watch;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The columns of the table of endpoints; those that come later are left out first where there is little room. */
enum TopColumn {
    /** Its address; its width is what the others leave. */
    ENDPOINT("endpoint", 0, row -> row.text, null),
    /** State of the queues, the worst one. */
    STATE("state", 7, row -> row.state.text(), row -> row.state.ordinal()),
    /** The client: many addresses name a port only. */
    CLIENT("client", 10, row -> row.client, null),
    /** Messages sent per second. */
    SENT("sent/s", 6, null, row -> row.meters.rate("sent_messages")),
    /** Messages received per second. */
    RECEIVED("recv/s", 6, null, row -> row.meters.rate("received_messages")),
    /** Sends that wait for a peer. */
    WAITING("waits", 6, null, row -> row.waitingSends),
    /** Messages that wait for a receive. */
    UNREAD("unread", 6, null, row -> row.meters.value("waiting_messages")),
    /** Sends that have not ended. */
    SENDS("sends", 6, null, row -> row.gauge("outstanding_sends")),
    /** Receives that have not ended. */
    POSTED("posted", 6, null, row -> row.gauge("posted_receives")),
    /** Bytes sent per second. */
    SENT_BYTES("sentB/s", 7, null, row -> row.meters.rate("sent_bytes")),
    /** Bytes received per second. */
    RECEIVED_BYTES("recvB/s", 7, null, row -> row.meters.rate("received_bytes")),
    /** Operations that ended with an error entry. */
    ERRORS("errors", 6, null, row -> row.meters.value("errors")),
    /** Remote accesses per second. */
    ACCESSES("rma/s", 6, null, row -> row.meters.rate("remote_accesses")),
    /** Sends that found the channel full, per second. */
    RETRIES("retry/s", 7, null, row -> row.meters.rate("retries")),
    /** Times that sends began to wait for credit. */
    CREDIT_WAITS("credit", 6, null, row -> row.meters.value("credit_waits")),
    /** Times that a slow peer had its share of the sends. */
    USED_SHARES("shares", 6, null, row -> row.meters.value("used_shares"));

    private static final int LEAST_NAME = 24;

    private final String title;
    private final int width;
    private final Function<Row, String> text;
    private final ToDoubleFunction<Row> figure;

    TopColumn(String title, int width, Function<Row, String> text, ToDoubleFunction<Row> figure) {
        this.title = title;
        // with room for the mark behind the title
        this.width = Math.max(width, title.length() + 1);
        this.text = text;
        this.figure = figure;
    }

    /**
     * A line of the table.
     *
     * @param client       name or number of the client.
     */
    record Row(String text, String client, QueueState state, Meters meters, long waitingSends) {
        static Row of(Sample.Endpoint endpoint, String client) {
            return new Row(endpoint.address(), client, endpoint.state(), endpoint.meters(), endpoint.peers().stream()
                .mapToLong(peer -> peer.meters().value("waiting_sends")).sum());
        }

        static Row of(Sample.Peer peer) {
            return new Row("  > " + peer.address(), peer.link(), peer.state(), peer.meters(),
                peer.meters().value("waiting_sends"));
        }

        /** A gauge that only endpoints have. */
        private double gauge(String name) {
            return meters.values().containsKey(name) ? meters.value(name) : Double.NaN;
        }
    }

    /** What is typed for it: its title in lower case, without signs. */
    String word() {
        return title.replace("/s", "").toLowerCase(Locale.ROOT);
    }

    static TopColumn of(String word) {
        return Stream.of(values()).filter(each -> each.word().equals(word.toLowerCase(Locale.ROOT)))
            .findFirst().orElse(null);
    }

    /** As many columns as fit. */
    static List<TopColumn> fitting(int total) {
        int used = LEAST_NAME;
        int count = 1;
        TopColumn[] all = values();
        while (count < all.length && used + 1 + all[count].width <= total) {
            used += 1 + all[count++].width;
        }
        return List.of(all).subList(0, count);
    }

    /** The header with a mark at the column that is sorted by. */
    static String header(List<TopColumn> columns, int total, TopColumn sort, boolean isReverse) {
        return line(columns, total, column -> {
            String mark = column == sort ? isReverse ? "^" : "v" : "";
            return column.title.toUpperCase(Locale.ROOT) + mark;
        });
    }

    static String line(List<TopColumn> columns, int total, Row row) {
        return line(columns, total, column -> column.text != null ? column.text.apply(row)
            : Figures.number(column.figure.applyAsDouble(row)));
    }

    /** Greatest first; texts from A. */
    Comparator<Row> order() {
        return figure == null ? Comparator.comparing(text)
            : Comparator.comparingDouble((Row row) -> {
                double value = figure.applyAsDouble(row);
                return Double.isNaN(value) ? -1 : value;
            }).reversed().thenComparing(ENDPOINT.text);
    }

    private static String line(List<TopColumn> columns, int total, Function<TopColumn, String> cells) {
        int name = total - columns.stream().skip(1).mapToInt(column -> column.width + 1).sum();
        StringBuilder line = new StringBuilder(total);
        for (TopColumn column : columns) {
            String cell = cells.apply(column);
            int width = column == ENDPOINT ? name : column.width;
            if (column != ENDPOINT) {
                line.append(' ');
            }
            String fitted = column == ENDPOINT ? cutAddress(cell, width) : cut(cell, width);
            String space = " ".repeat(width - fitted.length());
            line.append(column.figure == null || column == STATE ? fitted + space : space + fitted);
        }
        return line.toString().stripTrailing();
    }

    /** The same of an address, which loses its scheme first: all of a link have the same. */
    static String cutAddress(String address, int width) {
        return cut(address.length() <= width ? address : address.replaceFirst("\\w+://", ""), width);
    }

    /** A text of that many characters at most; a longer one loses its middle. */
    static String cut(String text, int width) {
        if (text.length() <= width) {
            return text;
        }
        if (width <= 2) {
            return text.substring(0, width);
        }
        int head = Math.max(0, (width - 2) / 2);
        return text.substring(0, head) + ".." + text.substring(text.length() - Math.max(0, width - 2 - head));
    }
}
