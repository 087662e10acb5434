package org.jfabric.simulation;

import java.util.Set;
import org.agrona.DirectBuffer;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.LogPosition;
import org.jfabric.stream.StreamHeader;
import org.jfabric.stream.Subscription;

/**
 * A reader of a group of another host, or of the own one. It continues where it was, goes back, or begins with what
 * comes next.
 */
final class StreamSubscriber extends BurstReader {
    /** The writer is away, or has removed a reader. */
    private static final Set<Integer> AWAY = Set.of(FabricErrno.ECONNREFUSED, FabricErrno.EHOSTUNREACH,
        FabricErrno.ECONNRESET, FabricErrno.ETIMEDOUT, FabricErrno.ESHUTDOWN);

    private final StreamLedger ledger;
    private final StreamTraffic.Settings settings;
    private final int host;
    private final String address;
    /** Of the last subscription; null before the first one. */
    private StreamLedger.Log log;
    /** Behind the last gap. */
    private long lostUntil;

    StreamSubscriber(Node node, int number, StreamLedger ledger, StreamTraffic.Settings settings, int host) {
        super(node, number, settings.pollNs(), settings.longestPauseNs());
        this.ledger = ledger;
        this.settings = settings;
        this.host = host;
        address = settings.address(ledger, node, host);
        idle(1 + settings.durationNs() / (1L << random.nextInt(12)));
    }

    @Override
    boolean isActive() {
        return ledger.isActive;
    }

    @Override
    boolean isClosing() {
        return ledger.isClosing;
    }

    /** While a join waits no program runs: mostly it is not begun if nothing can answer. */
    private boolean mayBeAnswered() {
        Node writer = node.simulation().nodes().get(ledger.host);
        Node own = node.simulation().nodes().get(host);
        return ledger.publication != null && writer.isRunning() && own.isRunning()
            && !node.simulation().network().isCut(own.address(), writer.address())
            || settings.scale() > 1000 && random.nextInt(64) == 0;
    }

    @Override
    int open() {
        if (!mayBeAnswered()) {
            idle(settings.againNs());
            return 0;
        }
        boolean isAnew = log == null || ledger.isActive && random.nextInt(8) == 0;
        boolean isBack = !isAnew && ledger.isActive && random.nextInt(8) == 0;
        long from = isBack ? Math.max(0, next - random.nextInt(64)) : next;
        StreamLedger.Log before = ledger.current();
        boolean wasOpen = ledger.publication != null;
        try {
            Subscription.Builder builder = Subscription.on(node.fabric(), address);
            subscription = (isAnew ? builder : builder.from(new LogPosition(log.id, 1, from))).open();
            long at = subscription.position();
            log = ledger.log(subscription.next().logId());
            node.simulation().note(isAnew ? "reads" : "reads on", node, number, at);
            Account.require(log != null, this + " has read an unknown log: " + subscription.next());
            Account.require(isAnew ? at <= log.end() : at == from, this + " was opened at " + at);
            next = at;
            lostUntil = -1;
        } catch (FabricException refusal) {
            subscription = null;
            node.simulation().note("refused", node, number, refusal.errno());
            onRefused(refusal, isAnew ? -1 : from, before, wasOpen);
        }
        return 1;
    }

    private void onRefused(FabricException refusal, long from, StreamLedger.Log before, boolean wasOpen) {
        ledger.refused++;
        idle(settings.againNs());
        boolean isSame = wasOpen && ledger.publication != null && before == ledger.current();
        boolean isExplained = switch (refusal.errno()) {
            case FabricErrno.EINVAL -> from >= 0 && !(isSame && log == before);
            case FabricErrno.ENODATA -> from >= 0 && log.mayBeOverwritten(from);
            default -> AWAY.contains(refusal.errno()) && (!isSame || settings.hasFaults());
        };
        if (!isExplained && !node.isKilled() && !node.faults().explains(refusal.errno())) {
            throw new AssertionError(this + " was refused from " + (from < 0 ? "now on" : from + " of " + log)
                + ", of " + ledger, refusal);
        }
        if (refusal.errno() == FabricErrno.EINVAL || refusal.errno() == FabricErrno.ENODATA) {
            log = null;
        }
    }

    @Override
    void onPolled() {
        Account.require(subscription.next().logId().equals(log.id), this + " reads " + subscription.next());
    }

    @Override
    void onEnd(int errno) {
        boolean isRight = switch (errno) {
            // a client of the writer's driver may have left messages that were not in the ring yet
            case FabricErrno.ESHUTDOWN -> !log.isClosed || next == log.end();
            case FabricErrno.ECONNRESET -> settings.hasFaults();
            case FabricErrno.ETIMEDOUT -> settings.stallTimeoutNs() > 0 || settings.hasFaults();
            default -> node.isKilled() || node.faults().explains(errno);
        };
        Account.require(isRight, this + " has ended with " + FabricErrno.name(errno) + ", of " + log);
        close();
    }

    /** Whether it has seen all, at the end. */
    boolean isDone() {
        return isOpen() && log == ledger.current() && next == log.end();
    }

    @Override
    void check(DirectBuffer buffer, int offset, int length, StreamHeader header) {
        log.check(buffer, offset, length, next);
        ledger.received++;
    }

    @Override
    void checkGap(long first, long last) {
        ledger.inGaps += last - first + 1;
        // what is lost at once may be named in several pieces
        boolean isOld = log.mayBeOverwritten(first) || first == lostUntil || settings.isSealed()
            || log.isLost(first, last);
        lostUntil = last + 1;
        Account.require(ledger.mayLose(host) && last < log.end() && isOld,
            this + " got a gap from " + first + " to " + last + ", of " + ledger);
    }

    @Override
    public String toString() {
        return super.toString() + " of " + (log == null ? "no log" : log) + " at " + address;
    }
}
