package org.jfabric.driver.ffi;

/**
 * The calls of libibverbs that the verbs link uses, except those of the data path, see {@link VerbsDataPath}.
 *
 * <p>Pointers are 64-bit integers; a call takes only pointers of the same library. A call returns 0, a pointer, or the
 * negative errno. All calls may be slow; any thread may call.
 */
public interface Ibverbs {
    int GID_BYTES = 16;

    /** Version of the library, for instance {@code libibverbs.so.1.14.44.0}. */
    String version();

    /**
     * The devices of this machine, {@code ibv_get_device_list}. Returns the list, possibly empty, to be freed by {@link
     * #freeDeviceList}; null if it cannot be read.
     */
    DeviceList deviceList();

    /**
     * Frees a list; its devices cannot be opened any more.
     *
     * @param list from {@link #deviceList()}.
     */
    void freeDeviceList(DeviceList list);

    /** Name of a device, for instance {@code mlx5_0}. */
    String deviceName(long device);

    /** {@code ibv_open_device}. Returns the context, or negative errno. */
    long openDevice(long device);

    /**
     * {@code ibv_close_device}.
     *
     * @param context of {@link #openDevice}.
     * @return 0 or negative errno.
     */
    int closeDevice(long context);

    long deviceOf(long context);

    /**
     * Checks whether a device uses iWARP, where answers to reads are writes of the peer. Returns false for InfiniBand
     * and RoCE.
     */
    boolean isIwarp(long context);

    /** {@code ibv_query_device}. Returns its attributes, or null if it does not answer. */
    DeviceAttributes queryDevice(long context);

    /**
     * {@code ibv_query_port}.
     *
     * @param port    from 1.
     * @return its state, or null if it does not answer.
     */
    PortAttributes queryPort(long context, int port);

    /** {@code ibv_alloc_pd}. Returns the protection domain, or negative errno. */
    long allocateDomain(long context);

    /**
     * {@code ibv_dealloc_pd}.
     *
     * @param domain without objects.
     * @return 0 or negative errno.
     */
    int freeDomain(long domain);

    /**
     * {@code ibv_reg_mr}: pins memory and registers it with the card.
     *
     * @param address native address.
     * @param access  {@link VerbsConstants#ACCESS_LOCAL_WRITE} and others.
     * @return registration, or negative errno.
     */
    long register(long domain, long address, long length, int access);

    /**
     * {@code ibv_dereg_mr}.
     *
     * @param registration of {@link #register}.
     * @return 0 or negative errno.
     */
    int deregister(long registration);

    // ---- datagrams ----

    /**
     * {@code ibv_query_gid}.
     *
     * @param port    from 1.
     * @return 16 bytes, null if there is none.
     */
    byte[] gid(long context, int port, int index);

    /**
     * {@code ibv_query_pkey} of the default partition.
     *
     * @param port    from 1.
     * @return key in network byte order, as in libfabric's names; 0 if there is none.
     */
    short partitionKey(long context, int port);

    /** {@code ibv_create_qp} of unreliable datagrams, with one queue for the completions of both directions. */
    RdmaCm.QueuePair createDatagramQueuePair(long domain, long queue, RdmaCm.QueueDepths depths);

    /**
     * Starts a queue pair of datagrams: {@code ibv_modify_qp}, three times.
     *
     * @param port      port that it uses, from 1.
     * @param key       Q_Key that datagrams to it must have.
     * @return 0 or negative errno.
     */
    int startDatagrams(long queuePair, int port, int key);

    /** Makes a queue pair with failed sends send again: {@code ibv_modify_qp}. Returns 0 or negative errno. */
    int resumeSends(long queuePair);

    /** Number of a queue pair, which peers send to and completions carry. Returns the 24 bits. */
    int queuePairNumber(long queuePair);

    /**
     * {@code ibv_destroy_qp}.
     *
     * @param queuePair in no group.
     * @return 0 or negative errno.
     */
    int destroyDatagramQueuePair(long queuePair);

    /**
     * {@code ibv_create_ah}.
     *
     * @param route  image of {@code struct ibv_ah_attr}, of {@link AddressRoute} or of a group.
     * @return address handle, or negative errno.
     */
    long createAddressHandle(long domain, byte[] route);

    /**
     * {@code ibv_destroy_ah}.
     *
     * @param handle that no request uses any more.
     * @return 0 or negative errno.
     */
    int destroyAddressHandle(long handle);

    /**
     * {@code ibv_attach_mcast}: delivers the datagrams of a group to a queue pair.
     *
     * @param route     of the group, see {@link RdmaCm.GroupEvent}.
     * @return 0 or negative errno.
     */
    int attachGroup(long queuePair, byte[] route);

    /** {@code ibv_detach_mcast}. Returns 0 or negative errno. */
    int detachGroup(long queuePair, byte[] route);

    // ---- keys ----

    /**
     * Key of a registration in work requests of this side.
     *
     * @param registration of {@link #register}.
     */
    int localKey(long registration);

    /**
     * Key of a registration in work requests of peers.
     *
     * @param registration of {@link #register}.
     */
    int remoteKey(long registration);

    /**
     * {@code ibv_create_comp_channel}, with a descriptor that does not block. Returns the channel, or negative errno.
     */
    long createChannel(long context);

    /**
     * Descriptor of a channel, readable when an armed queue has got a completion.
     *
     * @param channel of {@link #createChannel}.
     */
    int channelFd(long channel);

    /**
     * {@code ibv_destroy_comp_channel}.
     *
     * @param channel without queues.
     * @return 0 or negative errno.
     */
    int destroyChannel(long channel);

    /**
     * {@code ibv_get_cq_event} and {@code ibv_ack_cq_events}: takes one event off a channel.
     *
     * @param channel of {@link #createChannel}.
     * @return completion queue of the event, or negative errno, {@code -EAGAIN} if there is none.
     */
    long takeChannelEvent(long channel);

    /**
     * {@code ibv_create_cq}.
     *
     * @param entries least capacity.
     * @return queue, or negative errno.
     */
    long createCompletionQueue(long context, int entries, long channel);

    /**
     * {@code ibv_destroy_cq}.
     *
     * @param queue without queue pairs.
     * @return 0 or negative errno.
     */
    int destroyCompletionQueue(long queue);

    /**
     * {@code ibv_modify_qp} of the time after which a peer retries when no receive is posted.
     *
     * @param timer     code of the time, 12 is 0.64 ms.
     * @return 0 or negative errno.
     */
    int modifyRnrTimer(long queuePair, int timer);

    /**
     * {@code ibv_modify_qp} to the error state: outstanding requests are flushed, and no memory is accessed any more.
     *
     * @param queuePair of any state.
     * @return 0 or negative errno.
     */
    int modifyToError(long queuePair);

    /** Descriptor of a device's asynchronous events, made non-blocking. Returns the descriptor, or negative errno. */
    int asyncFd(long context);

    /**
     * {@code ibv_get_async_event} and {@code ibv_ack_async_event}: takes one event.
     *
     * @param context open device, after {@link #asyncFd}.
     * @return the event, or null if there is none.
     */
    AsyncEvent takeAsyncEvent(long context);

    /** {@code ibv_wc_status_str}. */
    String statusText(int status);

    /** {@code ibv_event_type_str}. */
    String eventText(int type);

    /** {@code ibv_port_state_str}. */
    String portStateText(int state);

    /**
     * The functions of the data path, which the vendor's library provides.
     *
     * @throws VerbsUnavailableException if the context is not laid out as expected.
     */
    VerbsDataPath dataPath(long context);

    /**
     * {@code ibv_create_srq}: a queue of receives that several queue pairs take from. Returns the shared receive queue,
     * or negative errno.
     */
    long createSharedQueue(long domain, int receives);

    /**
     * {@code ibv_destroy_srq}.
     *
     * @param sharedQueue that no queue pair uses any more.
     * @return 0 or negative errno.
     */
    int destroySharedQueue(long sharedQueue);

    /** A list of devices. */
    record DeviceList(long pointer, long[] devices) {
    }

    /**
     * Limits of a device, a part of {@code struct ibv_device_attr}.
     *
     * @param ports            from 1.
     * @param atomics          {@link VerbsConstants#ATOMIC_NONE} or a greater value.
     */
    record DeviceAttributes(
        int vendorId, int ports, int maxQueuePairs, int maxWorkRequests, int maxPieces, int maxQueues,
        int maxCompletions, int maxReads, int atomics) {
    }

    /**
     * State of a port, a part of {@code struct ibv_port_attr}.
     *
     * @param state           {@link VerbsConstants#PORT_ACTIVE} or another one.
     * @param activeMtu       code of the largest packet.
     * @param maxMessageBytes longest message.
     * @param linkLayer       1 InfiniBand, 2 Ethernet.
     * @param lid             of the port, 0 on Ethernet.
     */
    record PortAttributes(
        int state, int activeMtu, long maxMessageBytes, int linkLayer, int gids, int lid, int managerLevel) {
        /** Longest datagram. */
        public int packetBytes() {
            return 128 << activeMtu;
        }
    }

    /**
     * An asynchronous event, which belongs to no work request.
     *
     * @param type    {@link VerbsConstants#EVENT_DEVICE_FATAL} and others.
     * @param element pointer to a queue or queue pair, or number of a port, depending on the type.
     */
    record AsyncEvent(int type, long element) {
    }
}
