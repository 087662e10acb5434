package org.jfabric.stream;

/** Is told which messages a {@link Subscription} has lost. Owner: the thread that polls. */
@FunctionalInterface
public interface GapHandler {
    /**
     * Messages are lost, because the writer of a lossy group did not wait. The next message is that behind the last of
     * them, or a further gap.
     *
     * @param first position of the first one.
     * @param last  position of the last one.
     */
    void onGap(long first, long last);
}
