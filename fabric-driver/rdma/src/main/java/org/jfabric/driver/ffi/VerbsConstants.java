package org.jfabric.driver.ffi;

/** Values of the enumerations of libibverbs and librdmacm that the verbs link uses. */
public final class VerbsConstants {
    /** Access: the card may write, for receives and reads of ours. */
    public static final int ACCESS_LOCAL_WRITE = 0x1;
    /** Access: peers may write; the answers to our reads do that with iWARP. */
    public static final int ACCESS_REMOTE_WRITE = 0x2;
    /** Access: peers may read. */
    public static final int ACCESS_REMOTE_READ = 0x4;
    /** Access: peers may execute atomic operations. */
    public static final int ACCESS_REMOTE_ATOMIC = 0x8;

    /** Atomic operations of a device: none. */
    public static final int ATOMIC_NONE = 0;
    /** Atomic operations of a device: atomic also with respect to the processor. */
    public static final int ATOMIC_GLOB = 2;

    /** Queue pair: reliable connection. */
    public static final int QPT_RC = 2;
    /** Queue pair: unreliable datagrams. */
    public static final int QPT_UD = 4;
    /** State of a queue pair: it takes receives. */
    public static final int QPS_INIT = 1;
    /** State of a queue pair: it receives. */
    public static final int QPS_RTR = 2;
    /** State of a queue pair: it sends, too. */
    public static final int QPS_RTS = 3;
    /** State of a queue pair: a send has failed, and those behind it are flushed; it receives. */
    public static final int QPS_SQE = 5;
    /** State of a queue pair: all requests are flushed, and no memory is accessed any more. */
    public static final int QPS_ERR = 6;

    /** Transport of a device: iWARP. */
    public static final int TRANSPORT_IWARP = 1;

    /** Work request: write to the peer's memory. */
    public static final int WR_RDMA_WRITE = 0;
    /** Work request: the same with 32 bits of immediate data, which takes a receive of the peer. */
    public static final int WR_RDMA_WRITE_WITH_IMM = 1;
    /** Work request: message. */
    public static final int WR_SEND = 2;
    /** Work request: message with 32 bits of immediate data. */
    public static final int WR_SEND_WITH_IMM = 3;
    /** Work request: read of the peer's memory. */
    public static final int WR_RDMA_READ = 4;
    /** Work request: compare and swap of 64 bits of the peer's memory. */
    public static final int WR_ATOMIC_CMP_AND_SWP = 5;
    /** Work request: addition to 64 bits of the peer's memory. */
    public static final int WR_ATOMIC_FETCH_AND_ADD = 6;

    /** Flag of a work request: write a completion even if it succeeds. */
    public static final int SEND_SIGNALED = 2;
    /** Flag of a work request: the payload is copied by the call. */
    public static final int SEND_INLINE = 8;

    /** Completion: the operation has succeeded. */
    public static final int WC_SUCCESS = 0;
    /** Completion: the message is longer than the memory, or than the port's packets. */
    public static final int WC_LOC_LEN_ERR = 1;
    /** Completion: the queue pair was in error before the operation's turn came. */
    public static final int WC_WR_FLUSH_ERR = 5;
    /** Completion: the peer has refused the request, for instance no receive of that size. */
    public static final int WC_REM_INV_REQ_ERR = 9;
    /** Completion: the peer's card refuses the access: no such key, or not with that right or range. */
    public static final int WC_REM_ACCESS_ERR = 10;
    /** Completion: the peer's card does not answer. */
    public static final int WC_RETRY_EXC_ERR = 12;
    /** Completion: the peer had no receive for too long. */
    public static final int WC_RNR_RETRY_EXC_ERR = 13;
    /** Opcode of a completion, of success only: a message was received. */
    public static final int WC_RECV = 128;
    /** Opcode of a completion, of success only: the peer has written memory with immediate data. */
    public static final int WC_RECV_RDMA_WITH_IMM = 129;
    /** Flag of a completion: it has immediate data. */
    public static final int WC_WITH_IMM = 2;
    /** Flag of a completion: the message has its route in front. */
    public static final int WC_GRH = 1;

    /** Port state: it can send and receive. */
    public static final int PORT_ACTIVE = 4;

    /** Asynchronous event: the card has lost completions of a queue. */
    public static final int EVENT_CQ_ERR = 0;
    /** Asynchronous event: a queue pair is in error. */
    public static final int EVENT_QP_FATAL = 1;
    /** Asynchronous event: a queue pair in error takes no more receives from a shared queue. */
    public static final int EVENT_QP_LAST_WQE_REACHED = 16;
    /** Asynchronous event: the card does not work any more. */
    public static final int EVENT_DEVICE_FATAL = 8;
    /** Asynchronous event: a shared receive queue is in error. */
    public static final int EVENT_SRQ_ERR = 14;
    /** Asynchronous event: the port works again. */
    public static final int EVENT_PORT_ACTIVE = 9;
    /** Asynchronous event: the port is down. */
    public static final int EVENT_PORT_ERR = 10;

    /** Connection event: the address of the peer is known, and with it our device. */
    public static final int CM_ADDR_RESOLVED = 0;
    /** Connection event: no device leads to the address. */
    public static final int CM_ADDR_ERROR = 1;
    /** Connection event: the route to the peer is known. */
    public static final int CM_ROUTE_RESOLVED = 2;
    /** Connection event: there is no route to the peer. */
    public static final int CM_ROUTE_ERROR = 3;
    /** Connection event: a peer requests a connection. */
    public static final int CM_CONNECT_REQUEST = 4;
    /** Connection event: the connection could not be made. */
    public static final int CM_CONNECT_ERROR = 6;
    /** Connection event: the peer does not answer. */
    public static final int CM_UNREACHABLE = 7;
    /** Connection event: the peer has refused, or no process listens there. */
    public static final int CM_REJECTED = 8;
    /** Connection event: the connection is made. */
    public static final int CM_ESTABLISHED = 9;
    /** Connection event: the peer has closed the connection, or is gone. */
    public static final int CM_DISCONNECTED = 10;
    /** Connection event: the device is being removed. */
    public static final int CM_DEVICE_REMOVAL = 11;
    /** Connection event: a multicast group is joined. */
    public static final int CM_MULTICAST_JOIN = 12;
    /** Connection event: a multicast group cannot be joined, or is lost. */
    public static final int CM_MULTICAST_ERROR = 13;

    /** Mask for a queue pair's change: the receiver-not-ready timer. */
    public static final int QP_MIN_RNR_TIMER = 0x8000;
    /** Mask for a queue pair's change: the state. */
    public static final int QP_STATE = 0x1;
    /** Mask for a queue pair's change: the state that it is in. */
    public static final int QP_CURRENT_STATE = 0x2;
    /** Mask for a queue pair's change: place of the partition's key. */
    public static final int QP_PKEY_INDEX = 0x10;
    /** Mask for a queue pair's change: the port. */
    public static final int QP_PORT = 0x20;
    /** Mask for a queue pair's change: the key that datagrams to it must have. */
    public static final int QP_QKEY = 0x40;
    /** Mask for a queue pair's change: number of the first packet. */
    public static final int QP_SQ_PSN = 0x10000;
    /** Port space of reliable connections by IP addresses. */
    public static final int PS_TCP = 0x106;
    /** Port space of datagrams by IP addresses. */
    public static final int PS_UDP = 0x111;

    /** Link layer of a port: Ethernet, so that its GIDs are IP addresses (RoCE). */
    public static final int LINK_LAYER_ETHERNET = 2;

    private VerbsConstants() {
    }
}
