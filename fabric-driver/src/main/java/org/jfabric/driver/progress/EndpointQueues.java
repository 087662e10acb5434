package org.jfabric.driver.progress;

import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.layout.RecordConsumer;
import org.jfabric.layout.RecordRingDescriptor;

/**
 * The driver's end of one endpoint's transmit and receive queue.
 *
 * <p>Owner: progress agent.
 */
public final class EndpointQueues {
    private static final int MAX_TYPE = QueuePoller.STAMP_TYPE;

    final EngineEndpoint endpoint;
    final ProgressClient client;
    final int activityIndex;
    final RecordConsumer transmit;
    final UnsafeBuffer transmitBuffer;
    final RecordConsumer receive;
    final UnsafeBuffer receiveBuffer;
    int idleCycles;
    boolean hot;
    private final long completedSendsAddress;
    private final long completedReceivesAddress;

    /**
     * Both queues at their start.
     *
     * @param activityIndex   index of the endpoint's byte in the client's control file.
     * @param transmitAddress native address of the {@code .tq} file.
     * @param receiveAddress  native address of the {@code .rq} file.
     */
    public EndpointQueues(
        EngineEndpoint endpoint,
        ProgressClient client,
        int activityIndex,
        long transmitAddress,
        int transmitLength,
        long receiveAddress,
        int receiveLength) {
        this.endpoint = endpoint;
        this.client = client;
        this.activityIndex = activityIndex;
        this.transmit = consumer(transmitAddress, transmitLength);
        this.transmitBuffer = new UnsafeBuffer(transmitAddress + RecordRingDescriptor.HEADER_LENGTH, transmitLength);
        this.receive = consumer(receiveAddress, receiveLength);
        this.receiveBuffer = new UnsafeBuffer(receiveAddress + RecordRingDescriptor.HEADER_LENGTH, receiveLength);
        this.completedSendsAddress = transmitAddress + RecordRingDescriptor.COMPLETED_OFFSET;
        this.completedReceivesAddress = receiveAddress + RecordRingDescriptor.COMPLETED_OFFSET;
    }

    /** Starts to publish the numbers of completed operations to the client. */
    void serve() {
        endpoint.publishCompleted(completedSendsAddress, completedReceivesAddress);
    }

    /** Stops publishing, because the files may be gone. */
    void leave() {
        endpoint.publishCompleted(0, 0);
    }

    private static RecordConsumer consumer(long fileAddress, int length) {
        return new RecordConsumer(
            fileAddress + RecordRingDescriptor.HEADER_LENGTH,
            length,
            fileAddress + RecordRingDescriptor.CONSUMER_POSITION_OFFSET,
            MAX_TYPE);
    }
}
