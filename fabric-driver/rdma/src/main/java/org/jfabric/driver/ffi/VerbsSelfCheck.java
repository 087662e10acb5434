package org.jfabric.driver.ffi;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.agrona.UnsafeApi;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Reason;

/**
 * Reads back from the live libraries the values that the binding relies on: numbers of enumerations by their names, and
 * offsets in structures by values that are known otherwise. Unexpected values are refused, never adapted to.
 */
public final class VerbsSelfCheck {
    private static final String REMEDY =
        "This version of the library is unknown to the driver: use another rdma-core from 22 on, or report its version";
    /** The first release whose structures are known to be these. */
    private static final int MIN_RELEASE = 22;
    /** Follows the soname: the library's own numbers, then the release of rdma-core. */
    private static final Pattern RELEASE = Pattern.compile("\\.so\\.\\d+\\.\\d+\\.(\\d+)\\.");
    private static final int UNKNOWN_TRANSPORT = -1;
    private static final int MAX_TRANSPORT = 16;
    private static final int PAGE_BYTES = 4096;
    private static final int MIN_ENTRIES = 4;
    private static final int MAX_EXTENDED_SIZE = 16384;
    /** Numbers have 24 bits; 0 and 1 are reserved for subnet management. */
    private static final int MAX_QUEUE_PAIR = 0xff_fffe;

    private VerbsSelfCheck() {
    }

    /**
     * Checks the release if the file's name has it: some builds have other names, and only the other checks apply to
     * them.
     */
    static void checkRelease(String library) {
        Matcher release = RELEASE.matcher(library);
        if (release.find() && Integer.parseInt(release.group(1)) < MIN_RELEASE) {
            throw new VerbsUnavailableException(new Reason("library " + library, "rdma-core " + release.group(1),
                "rdma-core " + MIN_RELEASE + " or newer", "Install a newer rdma-core"));
        }
    }

    /** Checks numbers by the names that the libraries have for them. */
    static void checkConstants(NativeIbverbs verbs, NativeRdmaCm cm) {
        named("ibv_wc_status 0", verbs.statusText(VerbsConstants.WC_SUCCESS), "success");
        named("ibv_wc_status 1", verbs.statusText(VerbsConstants.WC_LOC_LEN_ERR), "local length");
        named("ibv_wc_status 5", verbs.statusText(VerbsConstants.WC_WR_FLUSH_ERR), "flush");
        named("ibv_wc_status 9", verbs.statusText(VerbsConstants.WC_REM_INV_REQ_ERR), "remote invalid request");
        named("ibv_wc_status 12", verbs.statusText(VerbsConstants.WC_RETRY_EXC_ERR), "transport retry");
        named("ibv_wc_status 13", verbs.statusText(VerbsConstants.WC_RNR_RETRY_EXC_ERR), "rnr retry");
        named("ibv_event_type 0", verbs.eventText(VerbsConstants.EVENT_CQ_ERR), "cq error");
        named("ibv_event_type 1", verbs.eventText(VerbsConstants.EVENT_QP_FATAL), "local work queue catastrophic");
        named("ibv_event_type 8", verbs.eventText(VerbsConstants.EVENT_DEVICE_FATAL), "catastrophic");
        named("ibv_event_type 9", verbs.eventText(VerbsConstants.EVENT_PORT_ACTIVE), "port active");
        named("ibv_event_type 10", verbs.eventText(VerbsConstants.EVENT_PORT_ERR), "port error");
        named("ibv_event_type 14", verbs.eventText(VerbsConstants.EVENT_SRQ_ERR), "srq catastrophic");
        named("ibv_event_type 16", verbs.eventText(VerbsConstants.EVENT_QP_LAST_WQE_REACHED), "last wqe");
        named("ibv_port_state 4", verbs.portStateText(VerbsConstants.PORT_ACTIVE), "active");
        named("rdma_cm_event_type 0", cm.eventText(VerbsConstants.CM_ADDR_RESOLVED), "addr_resolved");
        named("rdma_cm_event_type 1", cm.eventText(VerbsConstants.CM_ADDR_ERROR), "addr_error");
        named("rdma_cm_event_type 2", cm.eventText(VerbsConstants.CM_ROUTE_RESOLVED), "route_resolved");
        named("rdma_cm_event_type 3", cm.eventText(VerbsConstants.CM_ROUTE_ERROR), "route_error");
        named("rdma_cm_event_type 4", cm.eventText(VerbsConstants.CM_CONNECT_REQUEST), "connect_request");
        named("rdma_cm_event_type 6", cm.eventText(VerbsConstants.CM_CONNECT_ERROR), "connect_error");
        named("rdma_cm_event_type 7", cm.eventText(VerbsConstants.CM_UNREACHABLE), "unreachable");
        named("rdma_cm_event_type 8", cm.eventText(VerbsConstants.CM_REJECTED), "rejected");
        named("rdma_cm_event_type 9", cm.eventText(VerbsConstants.CM_ESTABLISHED), "established");
        named("rdma_cm_event_type 10", cm.eventText(VerbsConstants.CM_DISCONNECTED), "disconnected");
        named("rdma_cm_event_type 11", cm.eventText(VerbsConstants.CM_DEVICE_REMOVAL), "device_removal");
        named("rdma_cm_event_type 12", cm.eventText(VerbsConstants.CM_MULTICAST_JOIN), "multicast_join");
        named("rdma_cm_event_type 13", cm.eventText(VerbsConstants.CM_MULTICAST_ERROR), "multicast_error");
    }

    private static void named(String constant, String seen, String needed) {
        if (!seen.toLowerCase(Locale.ROOT).contains(needed)) {
            throw new VerbsUnavailableException(
                new Reason(constant, seen.isEmpty() ? "no name" : seen, "\"..." + needed + "...\"", REMEDY));
        }
    }

    /** Checks the fields of the context of an opened device. */
    static void checkContext(Ibverbs verbs, long context) {
        long device = UnsafeApi.getLong(context + VerbsLayout.CONTEXT_DEVICE);
        String name = NativeMemory.text(device + VerbsLayout.DEVICE_NAME);
        same("ibv_device.name", name, verbs.deviceName(device));
        within("ibv_device.transport_type",
            UnsafeApi.getInt(device + VerbsLayout.DEVICE_TRANSPORT), UNKNOWN_TRANSPORT, MAX_TRANSPORT);
        same("ibv_context.abi_compat",
            UnsafeApi.getLong(context + VerbsLayout.CONTEXT_ABI_COMPAT), VerbsLayout.EXTENDED_ABI);
        long size = UnsafeApi.getLong(context + VerbsLayout.CONTEXT_EXTENDED_SIZE);
        within("verbs_context.sz", size, VerbsLayout.CONTEXT_SIZE, MAX_EXTENDED_SIZE);
        within("ibv_context.cmd_fd", UnsafeApi.getInt(context + VerbsLayout.CONTEXT_CMD_FD), 0, Integer.MAX_VALUE);
        within("ibv_context.async_fd",
            UnsafeApi.getInt(context + VerbsLayout.CONTEXT_ASYNC_FD), 0, Integer.MAX_VALUE);
        within("ibv_context.num_comp_vectors",
            UnsafeApi.getInt(context + VerbsLayout.CONTEXT_COMP_VECTORS), 1, 1 << 20);
        Ibverbs.DeviceAttributes attributes = verbs.queryDevice(context);
        within("ibv_device_attr.phys_port_cnt", attributes == null ? 0 : attributes.ports(), 1, 255);
        within("ibv_device_attr.max_cqe", attributes == null ? 0 : attributes.maxCompletions(), 1, 1 << 30);
    }

    /**
     * Checks that the device's library provides every function that C programs call inline.
     *
     * @throws VerbsUnavailableException if one is missing.
     */
    public static void checkFunctions(long context) {
        function(context, VerbsLayout.CONTEXT_POLL_CQ, "poll_cq");
        function(context, VerbsLayout.CONTEXT_REQ_NOTIFY_CQ, "req_notify_cq");
        function(context, VerbsLayout.CONTEXT_POST_SRQ_RECV, "post_srq_recv");
        function(context, VerbsLayout.CONTEXT_POST_SEND, "post_send");
        function(context, VerbsLayout.CONTEXT_POST_RECV, "post_recv");
    }

    static long function(long context, int offset, String name) {
        long address = UnsafeApi.getLong(context + offset);
        if (address == 0) {
            throw new VerbsUnavailableException(new Reason("ibv_context.ops." + name, "null", "a function",
                "Use a driver library that belongs to the installed libibverbs"));
        }
        return address;
    }

    /**
     * Creates one object of each kind on a device and checks its fields.
     *
     * @throws VerbsUnavailableException if a field has an unexpected value, or an object cannot be made.
     */
    public static void checkObjects(Ibverbs verbs, long context) {
        checkFunctions(context);
        // all objects are released even after a failed check, the last one first
        Deque<Runnable> undo = new ArrayDeque<>();
        try {
            checkObjects(verbs, context, undo);
        } finally {
            undo.forEach(Runnable::run);
        }
    }

    private static void checkObjects(Ibverbs verbs, long context, Deque<Runnable> undo) {
        long domain = made("ibv_alloc_pd", verbs.allocateDomain(context));
        undo.push(() -> verbs.freeDomain(domain));
        same("ibv_pd.context", UnsafeApi.getLong(domain + VerbsLayout.PD_CONTEXT), context);
        long memory = NativeMemory.allocate(PAGE_BYTES);
        undo.push(() -> NativeMemory.free(memory));
        long region = made("ibv_reg_mr", verbs.register(
            domain, memory, PAGE_BYTES, VerbsConstants.ACCESS_LOCAL_WRITE | VerbsConstants.ACCESS_REMOTE_READ));
        undo.push(() -> verbs.deregister(region));
        same("ibv_mr.context", UnsafeApi.getLong(region + VerbsLayout.MR_CONTEXT), context);
        same("ibv_mr.pd", UnsafeApi.getLong(region + VerbsLayout.MR_PD), domain);
        same("ibv_mr.addr", UnsafeApi.getLong(region + VerbsLayout.MR_ADDRESS), memory);
        same("ibv_mr.length", UnsafeApi.getLong(region + VerbsLayout.MR_LENGTH), (long) PAGE_BYTES);
        long channel = made("ibv_create_comp_channel", verbs.createChannel(context));
        undo.push(() -> verbs.destroyChannel(channel));
        same("ibv_comp_channel.context", UnsafeApi.getLong(channel + VerbsLayout.CHANNEL_CONTEXT), context);
        within("ibv_comp_channel.fd", verbs.channelFd(channel), 0, Integer.MAX_VALUE);
        long queue = made("ibv_create_cq", verbs.createCompletionQueue(context, MIN_ENTRIES, channel));
        undo.push(() -> verbs.destroyCompletionQueue(queue));
        same("ibv_cq.context", UnsafeApi.getLong(queue + VerbsLayout.CQ_CONTEXT), context);
        same("ibv_cq.channel", UnsafeApi.getLong(queue + VerbsLayout.CQ_CHANNEL), channel);
        within("ibv_cq.cqe", UnsafeApi.getInt(queue + VerbsLayout.CQ_ENTRIES), MIN_ENTRIES, 1 << 30);
    }

    /**
     * Creates an identifier of the connection manager and checks its fields.
     *
     * @throws VerbsUnavailableException if a field has an unexpected value, or an object cannot be made.
     */
    public static void checkIdentifier(RdmaCm cm) {
        long channel = cm.createEventChannel();
        if (channel < 0) {
            throw new VerbsUnavailableException(new Reason("/dev/infiniband/rdma_cm",
                FabricErrno.name((int) -channel), "opened",
                "Load the kernel module rdma_ucm and let this user open the device"));
        }
        long id = cm.createId(channel);
        try {
            made("rdma_create_id", id);
            same("rdma_cm_id.channel", UnsafeApi.getLong(id + VerbsLayout.CM_ID_CHANNEL), channel);
            same("rdma_cm_id.context", UnsafeApi.getLong(id + VerbsLayout.CM_ID_CONTEXT), 0L);
            same("rdma_cm_id.ps", UnsafeApi.getInt(id + VerbsLayout.CM_ID_PORT_SPACE), VerbsConstants.PS_TCP);
        } finally {
            if (id > 0) {
                cm.destroyId(id);
            }
            cm.destroyEventChannel(channel);
        }
    }

    /**
     * Checks the fields of a queue pair of a connection.
     *
     * @param queuePair not connected yet.
     * @throws VerbsUnavailableException if a field has an unexpected value.
     */
    public static void checkConnected(Ibverbs verbs, long context, long domain, long queuePair) {
        checkQueuePair(verbs, context, domain, queuePair, VerbsConstants.QPT_RC, VerbsConstants.QPS_INIT);
    }

    /**
     * Checks the fields of a queue pair of datagrams.
     *
     * @throws VerbsUnavailableException if a field has an unexpected value.
     */
    public static void checkDatagrams(Ibverbs verbs, long context, long domain, long queuePair) {
        checkQueuePair(verbs, context, domain, queuePair, VerbsConstants.QPT_UD, VerbsConstants.QPS_RTS);
    }

    private static void checkQueuePair(
        Ibverbs verbs, long context, long domain, long queuePair, int type, int state) {
        same("ibv_qp.context", UnsafeApi.getLong(queuePair + VerbsLayout.QP_CONTEXT), context);
        same("ibv_qp.pd", UnsafeApi.getLong(queuePair + VerbsLayout.QP_PD), domain);
        same("ibv_qp.qp_type", UnsafeApi.getInt(queuePair + VerbsLayout.QP_TYPE), type);
        same("ibv_qp.state", UnsafeApi.getInt(queuePair + VerbsLayout.QP_STATE), state);
        within("ibv_qp.qp_num", verbs.queuePairNumber(queuePair), 2, MAX_QUEUE_PAIR);
    }

    /**
     * Checks the fields of an address handle.
     *
     * @param handle  of {@link Ibverbs#createAddressHandle}.
     * @throws VerbsUnavailableException if a field has an unexpected value.
     */
    public static void checkAddressHandle(long context, long domain, long handle) {
        same("ibv_ah.context", UnsafeApi.getLong(handle + VerbsLayout.AH_CONTEXT), context);
        same("ibv_ah.pd", UnsafeApi.getLong(handle + VerbsLayout.AH_PD), domain);
    }

    private static long made(String call, long result) {
        if (result < 0) {
            boolean isMemory = result == -FabricErrno.ENOMEM;
            throw new VerbsUnavailableException(new Reason(call, FabricErrno.name((int) -result), "success",
                isMemory ? "Raise the limit of locked memory (ulimit -l)" : "See the kernel's messages"));
        }
        return result;
    }

    private static void same(String field, Object seen, Object needed) {
        if (!needed.equals(seen)) {
            throw new VerbsUnavailableException(
                new Reason(field, String.valueOf(seen), String.valueOf(needed), REMEDY));
        }
    }

    private static void within(String field, long seen, long lowest, long highest) {
        if (seen < lowest || seen > highest) {
            throw new VerbsUnavailableException(
                new Reason(field, Long.toString(seen), lowest + " to " + highest, REMEDY));
        }
    }
}
