package org.jfabric;

import org.jfabric.client.Invoker;
import org.jfabric.codec.control.ControlMessage.Answer;
import org.jfabric.codec.control.GroupJoined;
import org.jfabric.info.FabricException;

/**
 * A reader of a group that is being joined ({@link Endpoint#beginReader}). The driver answers when the writer has, or
 * has not for some seconds.
 *
 * <pre>{@code
 * PendingReader pending = endpoint.beginReader("stream://10.0.0.7:4100/quotes", 7, new JoinAttr());
 * MulticastReader reader = pending.poll();
 * while (reader == null) {
 *     Thread.onSpinWait();
 *     reader = pending.poll();
 * }
 * }</pre>
 *
 * <p>Owner: one thread at a time.
 */
public final class PendingReader {
    private final EndpointConnection endpoint;
    private final Fabric fabric;
    private final long opContext;
    private volatile GroupJoined ready;
    private volatile FabricException refusal;

    PendingReader(EndpointConnection endpoint, Fabric fabric, long opContext) {
        this.endpoint = endpoint;
        this.fabric = fabric;
        this.opContext = opContext;
    }

    /** Any thread. */
    void answered(Answer answer, FabricException failure) {
        ready = (GroupJoined) answer;
        refusal = failure;
    }

    /**
     * Takes the reader once it has joined. With an embedded driver in mode INVOKER it runs the driver's cycles.
     *
     * @return the reader, once; null before the driver has answered.
     * @throws FabricException as {@link Endpoint#openReader}, each time.
     */
    public MulticastReader poll() {
        Invoker invoker = fabric.invoker();
        if (invoker != null) {
            invoker.poll(0);
        }
        if (refusal != null) {
            throw refusal;
        }
        GroupJoined joined = ready;
        ready = null;
        return joined == null ? null : endpoint.reader(joined, opContext);
    }
}
