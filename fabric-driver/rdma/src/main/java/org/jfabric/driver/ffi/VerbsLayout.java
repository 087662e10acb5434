package org.jfabric.driver.ffi;

/**
 * Offsets and sizes of the structures of libibverbs and librdmacm, in bytes, for 64-bit machines. Measured with
 * rdma-core 44 by {@code offsetof}; the interface behind {@code libibverbs.so.1} has kept them since its version 1.1.
 * {@link VerbsSelfCheck} checks as many of them as possible in the live libraries.
 */
final class VerbsLayout {
    // struct ibv_device
    static final int DEVICE_TRANSPORT = 20;
    static final int DEVICE_NAME = 24;

    // struct ibv_context; the functions that C programs call inline are fields of it, set by each vendor's library
    static final int CONTEXT_DEVICE = 0;
    static final int CONTEXT_POLL_CQ = 96;
    static final int CONTEXT_REQ_NOTIFY_CQ = 104;
    static final int CONTEXT_POST_SRQ_RECV = 168;
    static final int CONTEXT_POST_SEND = 208;
    static final int CONTEXT_POST_RECV = 216;
    static final int CONTEXT_CMD_FD = 264;
    static final int CONTEXT_ASYNC_FD = 268;
    static final int CONTEXT_COMP_VECTORS = 272;
    static final int CONTEXT_ABI_COMPAT = 320;
    static final int CONTEXT_SIZE = 328;
    /** Before the context, if its ABI word is -1: the size of the structure that ends with the context. */
    static final int CONTEXT_EXTENDED_SIZE = -8;
    static final long EXTENDED_ABI = -1L;
    static final long EXTENDED_SIZE = 648;

    // struct ibv_device_attr
    static final int DEVICE_ATTR_VENDOR_ID = 96;
    static final int DEVICE_ATTR_MAX_QP = 108;
    static final int DEVICE_ATTR_MAX_QP_WR = 112;
    static final int DEVICE_ATTR_MAX_SGE = 120;
    static final int DEVICE_ATTR_MAX_CQ = 128;
    static final int DEVICE_ATTR_MAX_CQE = 132;
    static final int DEVICE_ATTR_MAX_RD_ATOMIC = 144;
    static final int DEVICE_ATTR_ATOMIC_CAP = 164;
    static final int DEVICE_ATTR_PORTS = 227;
    static final int DEVICE_ATTR_SIZE = 232;

    // struct ibv_port_attr
    static final int PORT_ATTR_STATE = 0;
    static final int PORT_ATTR_ACTIVE_MTU = 8;
    static final int PORT_ATTR_GID_TABLE_LENGTH = 12;
    static final int PORT_ATTR_MAX_MSG_SIZE = 20;
    static final int PORT_ATTR_LID = 34;
    static final int PORT_ATTR_SM_SL = 40;
    static final int PORT_ATTR_LINK_LAYER = 46;
    static final int PORT_ATTR_SIZE = 52;

    // struct ibv_pd, ibv_mr, ibv_comp_channel, ibv_cq, ibv_qp
    static final int PD_CONTEXT = 0;
    static final int MR_CONTEXT = 0;
    static final int MR_PD = 8;
    static final int MR_ADDRESS = 16;
    static final int MR_LENGTH = 24;
    static final int MR_LKEY = 36;
    static final int MR_RKEY = 40;
    static final int MR_SIZE = 48;
    static final int CHANNEL_CONTEXT = 0;
    static final int CHANNEL_FD = 8;
    static final int CHANNEL_SIZE = 16;
    static final int CQ_CONTEXT = 0;
    static final int CQ_CHANNEL = 8;
    static final int CQ_ENTRIES = 28;
    static final int CQ_SIZE = 128;
    static final int QP_CONTEXT = 0;
    static final int QP_PD = 16;
    static final int QP_NUMBER = 52;
    static final int QP_STATE = 56;
    static final int QP_TYPE = 60;
    static final int QP_SIZE = 160;

    // struct ibv_qp_init_attr
    static final int QP_INIT_SEND_CQ = 8;
    static final int QP_INIT_RECV_CQ = 16;
    static final int QP_INIT_SRQ = 24;
    static final int QP_INIT_MAX_SEND_WR = 32;
    static final int QP_INIT_MAX_RECV_WR = 36;
    static final int QP_INIT_MAX_SEND_SGE = 40;
    static final int QP_INIT_MAX_RECV_SGE = 44;
    static final int QP_INIT_MAX_INLINE = 48;
    static final int QP_INIT_TYPE = 52;
    static final int QP_INIT_SIZE = 64;

    // struct ibv_srq, ibv_srq_init_attr
    static final int SRQ_SIZE = 128;
    static final int SRQ_INIT_MAX_WR = 8;
    static final int SRQ_INIT_MAX_SGE = 12;
    static final int SRQ_INIT_SIZE = 24;

    // struct ibv_qp_attr
    static final int QP_ATTR_STATE = 0;
    static final int QP_ATTR_CURRENT_STATE = 4;
    static final int QP_ATTR_QKEY = 16;
    static final int QP_ATTR_SQ_PSN = 24;
    static final int QP_ATTR_PKEY_INDEX = 120;
    static final int QP_ATTR_MIN_RNR_TIMER = 128;
    static final int QP_ATTR_PORT = 129;
    static final int QP_ATTR_SIZE = 144;

    // struct ibv_ah_attr, and the address handle that is made from it
    static final int AH_ATTR_DESTINATION_GID = 0;
    static final int AH_ATTR_SOURCE_GID_INDEX = 20;
    static final int AH_ATTR_HOP_LIMIT = 21;
    static final int AH_ATTR_DESTINATION_LID = 24;
    static final int AH_ATTR_SL = 26;
    static final int AH_ATTR_IS_GLOBAL = 29;
    static final int AH_ATTR_PORT = 30;
    static final int AH_ATTR_SIZE = 32;
    static final int AH_CONTEXT = 0;
    static final int AH_PD = 8;
    static final int AH_SIZE = 24;

    // struct ibv_sge
    static final int SGE_ADDRESS = 0;
    static final int SGE_LENGTH = 8;
    static final int SGE_LKEY = 12;
    static final int SGE_SIZE = 16;

    // struct ibv_send_wr; the immediate data is in network byte order
    static final int SEND_ID = 0;
    static final int SEND_NEXT = 8;
    static final int SEND_SGES = 16;
    static final int SEND_SGE_COUNT = 24;
    static final int SEND_OPCODE = 28;
    static final int SEND_FLAGS = 32;
    static final int SEND_IMMEDIATE = 36;
    static final int SEND_REMOTE_ADDRESS = 40;
    static final int SEND_RKEY = 48;
    static final int SEND_ATOMIC_COMPARE_ADD = 48;
    static final int SEND_ATOMIC_SWAP = 56;
    static final int SEND_ATOMIC_RKEY = 64;
    static final int SEND_ADDRESS_HANDLE = 40;
    static final int SEND_REMOTE_QUEUE_PAIR = 48;
    static final int SEND_REMOTE_QKEY = 52;
    static final int SEND_SIZE = 128;

    // struct ibv_recv_wr
    static final int RECV_ID = 0;
    static final int RECV_NEXT = 8;
    static final int RECV_SGES = 16;
    static final int RECV_SGE_COUNT = 24;
    static final int RECV_SIZE = 32;

    // struct ibv_wc; the immediate data is in network byte order
    static final int WC_ID = 0;
    static final int WC_STATUS = 8;
    static final int WC_OPCODE = 12;
    static final int WC_VENDOR_ERROR = 16;
    static final int WC_LENGTH = 20;
    static final int WC_IMMEDIATE = 24;
    static final int WC_QP_NUMBER = 28;
    static final int WC_SOURCE_QUEUE_PAIR = 32;
    static final int WC_FLAGS = 36;
    static final int WC_SIZE = 48;

    // struct ibv_async_event
    static final int ASYNC_ELEMENT = 0;
    static final int ASYNC_TYPE = 8;
    static final int ASYNC_SIZE = 16;

    // struct rdma_event_channel, rdma_cm_id
    static final int CM_CHANNEL_FD = 0;
    static final int CM_CHANNEL_SIZE = 4;
    static final int CM_ID_VERBS = 0;
    static final int CM_ID_CHANNEL = 8;
    static final int CM_ID_CONTEXT = 16;
    static final int CM_ID_QP = 24;
    static final int CM_ID_LOCAL_ADDRESS = 32;
    static final int CM_ID_PEER_ADDRESS = 160;
    static final int CM_ID_PORT_SPACE = 344;
    static final int CM_ID_PORT = 348;
    static final int CM_ID_SIZE = 416;

    // struct rdma_cm_event
    static final int CM_EVENT_ID = 0;
    static final int CM_EVENT_LISTEN_ID = 8;
    static final int CM_EVENT_TYPE = 16;
    static final int CM_EVENT_STATUS = 20;
    static final int CM_EVENT_DATA = 24;
    static final int CM_EVENT_DATA_LENGTH = 32;
    static final int CM_EVENT_GROUP_ROUTE = 40;
    static final int CM_EVENT_GROUP_QUEUE_PAIR = 72;
    static final int CM_EVENT_GROUP_QKEY = 76;
    static final int CM_EVENT_SIZE = 80;

    // struct rdma_conn_param
    static final int CONN_DATA = 0;
    static final int CONN_DATA_LENGTH = 8;
    static final int CONN_RESPONDER_RESOURCES = 9;
    static final int CONN_INITIATOR_DEPTH = 10;
    static final int CONN_FLOW_CONTROL = 11;
    static final int CONN_RETRY_COUNT = 12;
    static final int CONN_RNR_RETRY_COUNT = 13;
    static final int CONN_SIZE = 24;

    private VerbsLayout() {
    }
}
