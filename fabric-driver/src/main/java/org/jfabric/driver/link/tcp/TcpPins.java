package org.jfabric.driver.link.tcp;

import org.jfabric.ffi.IoVector;
import org.jfabric.ffi.ZeroCopy;

/**
 * The sends of one connection that the system does not copy, up to its report that it no longer uses their memory.
 *
 * <p>The system numbers such sends with 32 bits that wrap, and reports ranges of numbers, usually but not always in
 * their order. One message at a time has such sends: it is released when the number of reported sends is that of the
 * sends. Ranges that no send of the message has are ignored.
 *
 * <p>Owner: progress agent.
 */
final class TcpPins {
    private final TcpPort port;
    private final ZeroCopy reports;
    private final TcpCounters counters;
    /** Number of the next send, as the system counts. */
    private int next;
    /** Number of the first send that may not be reported yet. */
    private int base;
    /** Sends from {@link #base} on that are not reported. */
    private int awaited;
    /** The system copies: sends are ordinary ones from now on. */
    private boolean isOff;

    /** Of a connection whose port allows such sends. */
    TcpPins(TcpPort port, ZeroCopy reports, TcpCounters counters) {
        this.port = port;
        this.reports = reports;
        this.counters = counters;
    }

    /** Whether the next message is sent without a copy. */
    boolean isOn() {
        return !isOff;
    }

    /** Whether the system may still read memory of a message. */
    boolean isHeld() {
        return awaited != 0;
    }

    /** As {@link TcpPort#sendVector}, without a copy where the system can do so. */
    long send(IoVector vector) {
        if (isOff) {
            return port.sendVector(vector);
        }
        long sent = port.sendPinned(vector);
        if (sent > 0) {
            if (awaited == 0) {
                base = next;
            }
            next++;
            awaited++;
        } else if (sent == -ZeroCopy.ENOBUFS) {
            // no memory for one more report, of this socket or of the process's locked pages: the same bytes copied
            counters.onCopiedForLack();
            return port.sendVector(vector);
        }
        return sent;
    }

    /** Takes the reports that have arrived; returns how many. */
    int poll() {
        return awaited == 0 ? 0 : port.takeReports(reports, this);
    }

    /** The system is done with the sends of a range, which may wrap. */
    void onReport(int first, int last, boolean isCopied) {
        int from = first - base;
        int to = last - base;
        int window = next - base;
        if (Integer.compareUnsigned(from, to) > 0 || Integer.compareUnsigned(to, window) >= 0) {
            return;
        }
        int count = to - from + 1;
        awaited = Integer.compareUnsigned(count, awaited) > 0 ? 0 : awaited - count;
        if (isCopied && !isOff) {
            isOff = true;
            counters.onZeroCopyOff();
        }
    }

    /** Begins at a number, as a connection with so many sends; for tests of the wrap. */
    void startAt(int number) {
        next = number;
    }
}
