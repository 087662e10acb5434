package org.jfabric.driver.engine;

import org.jfabric.info.Flags;

/**
 * The mode of an endpoint with buffers that take many tagged messages (FI_TAGGED_MULTI_RECV): tagged receives and
 * messages go to one {@link MultiReceives}, untagged ones to another one, or to the ordinary receives. A receive is
 * ended by the mode that it was given there, and never by this one.
 *
 * <p>Owner: progress agent.
 */
final class TaggedMultiReceives extends ReceiveMode {
    private final MultiReceives tagged;
    private final ReceiveMode untagged;

    TaggedMultiReceives(EndedReceives ends, MultiReceives tagged, ReceiveMode untagged) {
        super(ends);
        this.tagged = tagged;
        this.untagged = untagged;
    }

    private ReceiveMode of(long flags) {
        return (flags & Flags.TAGGED) != 0 ? tagged : untagged;
    }

    @Override
    void post(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        of(receive.flags).post(receive, srcAddr, tag, ignore);
    }

    @Override
    void peek(ReceiveOperation receive, long srcAddr, long tag, long ignore) {
        of(receive.flags).peek(receive, srcAddr, tag, ignore);
    }

    @Override
    ReceiveOperation arrive(PeerReceives from, long flags, long tag, long length) {
        return of(flags).arrive(from, flags, tag, length);
    }

    @Override
    void found(ReceiveOperation peek, long buf) {
        of(peek.flags).found(peek, buf);
    }

    @Override
    void complete(ReceiveOperation receive) {
        throw new IllegalStateException("a receive of another mode: " + receive);
    }

    @Override
    void fail(ReceiveOperation receive, long placed, int errno) {
        throw new IllegalStateException("a receive of another mode: " + receive);
    }

    @Override
    void release(ReceiveOperation receive) {
        throw new IllegalStateException("a receive of another mode: " + receive);
    }

    @Override
    void recover() {
        tagged.recover();
        untagged.recover();
    }

    @Override
    void close() {
        tagged.close();
        untagged.close();
    }
}
