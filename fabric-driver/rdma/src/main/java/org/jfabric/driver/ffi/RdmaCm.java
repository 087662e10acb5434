package org.jfabric.driver.ffi;

/**
 * The calls of librdmacm that the verbs link uses. No call waits except {@link #destroyId}, which waits for events that
 * were taken and not yet acknowledged; {@link #takeEvent} leaves none.
 *
 * <p>Pointers are 64-bit integers. A call returns 0, a pointer, or the negative errno. Any thread, one at a time for
 * each identifier and for each channel.
 */
public interface RdmaCm {
    /** Version of the library, for instance {@code librdmacm.so.1.3.44.0}. */
    String version();

    /**
     * {@code rdma_create_event_channel}, with a descriptor that does not block. Returns the channel, or negative errno.
     */
    long createEventChannel();

    /**
     * Descriptor of a channel, readable when there is an event.
     *
     * @param channel of {@link #createEventChannel()}.
     */
    int eventChannelFd(long channel);

    /**
     * {@code rdma_destroy_event_channel}.
     *
     * @param channel without identifiers.
     */
    void destroyEventChannel(long channel);

    /** {@code rdma_create_id} in the port space of reliable connections. Returns the identifier, or negative errno. */
    long createId(long channel);

    /** {@code rdma_create_id} in the port space of datagrams. Returns the identifier, or negative errno. */
    long createDatagramId(long channel);

    /**
     * {@code rdma_join_multicast}; {@link VerbsConstants#CM_MULTICAST_JOIN} or an error follows.
     *
     * @param id    identifier of datagrams with an address, without queue pair.
     * @return 0 or negative errno.
     */
    int joinGroup(long id, byte[] group);

    /** {@code rdma_leave_multicast}. Returns 0 or negative errno. */
    int leaveGroup(long id, byte[] group);

    /**
     * As {@link #takeEvent}, for channels of identifiers that join groups.
     *
     * @param channel of {@link #createEventChannel()}.
     * @return the event, or null if there is none.
     */
    GroupEvent takeGroupEvent(long channel);

    /** The port that an identifier is bound to, from 1. */
    int port(long id);

    /** {@code rdma_destroy_id}; its queue pair has to be destroyed before. Returns 0 or negative errno. */
    int destroyId(long id);

    /**
     * {@code rdma_migrate_id}: moves its events to another channel.
     *
     * @param channel of {@link #createEventChannel()}.
     * @return 0 or negative errno.
     */
    int migrate(long id, long channel);

    /**
     * {@code rdma_bind_addr}.
     *
     * @param address image of a socket address; port 0 for any.
     * @return 0 or negative errno.
     */
    int bind(long id, byte[] address);

    /**
     * {@code rdma_listen}.
     *
     * @param backlog requests that may wait.
     * @return 0 or negative errno.
     */
    int listen(long id, int backlog);

    /**
     * {@code rdma_resolve_addr}; {@link VerbsConstants#CM_ADDR_RESOLVED} or an error follows.
     *
     * @param local     image of the local socket address, or null for any.
     * @param timeoutMs longest time for the resolution, in milliseconds.
     * @return 0 or negative errno.
     */
    int resolveAddress(long id, byte[] local, byte[] remote, int timeoutMs);

    /**
     * {@code rdma_set_option} with RDMA_OPTION_ID_TOS: how the packets of a connection are marked. Before its address
     * is resolved.
     *
     * @param tos octet of the header, the code point in its upper six bits.
     * @return 0 or negative errno.
     */
    int setServiceType(long id, int tos);

    /**
     * {@code rdma_resolve_route}; {@link VerbsConstants#CM_ROUTE_RESOLVED} or an error follows.
     *
     * @param timeoutMs longest time for the resolution, in milliseconds.
     * @return 0 or negative errno.
     */
    int resolveRoute(long id, int timeoutMs);

    /** {@code rdma_create_qp} of a reliable connection, with one queue for the completions of both directions. */
    QueuePair createQueuePair(long id, long domain, long queue, QueueDepths depths);

    /** {@code rdma_destroy_qp}. */
    void destroyQueuePair(long id);

    /** {@code rdma_connect}. Returns 0 or negative errno. */
    int connect(long id, byte[] data);

    /** {@code rdma_accept}. Returns 0 or negative errno. */
    int accept(long id, byte[] data);

    /** {@code rdma_reject}. Returns 0 or negative errno. */
    int reject(long id, byte[] data);

    /**
     * {@code rdma_disconnect}: notifies the peer and moves the queue pair to the error state, so that its requests are
     * flushed. Returns 0 or negative errno.
     */
    int disconnect(long id);

    /**
     * {@code rdma_get_devices} and {@code rdma_free_devices}: makes the library list the devices again, and open them.
     * Only then it detects that one was removed, and closes its context when no identifier uses it. If no device is
     * left it does not do so.
     */
    void refreshDevices();

    /**
     * {@code rdma_get_cm_event} and {@code rdma_ack_cm_event}: takes one event.
     *
     * @param channel of {@link #createEventChannel()}.
     * @return the event, or null if there is none.
     */
    CmEvent takeEvent(long channel);

    /** The device that an identifier is bound to. Returns the context, 0 for none yet. */
    long context(long id);

    /** The queue pair that was made for an identifier. Returns the pointer, 0 for none. */
    long queuePair(long id);

    byte[] localAddress(long id);

    /** Address of an identifier's peer. */
    byte[] peerAddress(long id);

    /**
     * Sizes of a queue pair's queues.
     *
     * @param inlineBytes   longest payload that a call copies; a lower limit of the device is no error.
     * @param sharedQueue   that receives are taken from, {@link Ibverbs#createSharedQueue}; 0 for the pair's own.
     */
    record QueueDepths(int sends, int receives, int sendPieces, int inlineBytes, long sharedQueue) {
    }

    /**
     * A queue pair.
     *
     * @param pointer     to it, or negative errno.
     * @param inlineBytes longest payload that a call copies.
     */
    record QueuePair(long pointer, int inlineBytes) {
    }

    /**
     * An event of an identifier.
     *
     * @param type     {@link VerbsConstants#CM_ESTABLISHED} and others.
     * @param status   0, a negative errno, or the reason of a refusal.
     */
    record CmEvent(int type, int status, long id, long listenId, byte[] data) {
    }

    /**
     * An event of an identifier that joins a group.
     *
     * @param type      {@link VerbsConstants#CM_MULTICAST_JOIN} and others.
     * @param status    0 or a negative errno.
     * @param route     of the group, if it is joined: image of {@code struct ibv_ah_attr}.
     */
    record GroupEvent(int type, int status, byte[] route, int queuePair, int key) {
    }
}
