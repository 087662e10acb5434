package org.jfabric.tool;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * The sequence of one side: sizes one after the other, then the end. Owner: one thread.
 */
final class FiPingPongRun {
    private static final long END_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long STEP = 1024;
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_S = 1e9;
    private static final double MEGA = 1e6;

    private final FiPingPongPlan plan;
    private final boolean isClient;
    private final FiPingPongControl control;
    private final FiPingPongEndpoint endpoint;
    private final FiPingPongContents contents;
    private final PrintWriter out;

    /** A run of which nothing has happened. */
    FiPingPongRun(
        FiPingPongPlan plan, boolean isClient, FiPingPongControl control, FiPingPongEndpoint endpoint,
        PrintWriter out) {
        this.plan = plan;
        this.isClient = isClient;
        this.control = control;
        this.endpoint = endpoint;
        this.contents = plan.check() ? new FiPingPongContents() : null;
        this.out = out;
    }

    /** Exchanges all sizes that the endpoint can send. */
    void run() {
        out.printf("%-10s%-8s%-9s%-12s%-10s%7s%13s%14s%n",
            "bytes", "#sent", "#ack", "total", "time", "MB/sec", "usec/xfer", "Mxfers/sec");
        for (long size : plan.sizes()) {
            if (size <= endpoint.longestMessage()) {
                control.sync(isClient);
                long begin = System.nanoTime();
                exchange(size);
                long elapsedNs = System.nanoTime() - begin;
                control.exchangeCount(isClient, plan.iterations());
                report(size, elapsedNs);
            }
        }
        endpoint.finish();
        // the other side may still wait for an acknowledgement of its last message, which needs our driver or its
        // device; lost packets delay it
        control.awaitEnd(END_NS);
    }

    private void exchange(long size) {
        for (int i = 0; i < plan.iterations(); i++) {
            if (isClient) {
                endpoint.send(size, contents);
                endpoint.receive(size, contents);
            } else {
                endpoint.receive(size, contents);
                endpoint.send(size, contents);
            }
        }
    }

    private void report(long size, long elapsedNs) {
        long messages = 2L * plan.iterations();
        out.printf(Locale.ROOT, "%-10s%-8s=%-8s%-12s%-10s%7.2f%13.2f%14.2f%n",
            bytes(size), plan.iterations(), plan.iterations(), bytes(size * messages),
            String.format(Locale.ROOT, "%.2fs", elapsedNs / NS_PER_S),
            size * messages / MEGA / (elapsedNs / NS_PER_S), elapsedNs / NS_PER_US / messages,
            messages / MEGA / (elapsedNs / NS_PER_S));
        out.flush();
    }

    private static String bytes(long bytes) {
        String unit = "";
        double value = bytes;
        for (String next : new String[] {"k", "m", "g"}) {
            if (value < STEP) {
                break;
            }
            value /= STEP;
            unit = next;
        }
        return (value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.1f", value))
            + unit;
    }
}
