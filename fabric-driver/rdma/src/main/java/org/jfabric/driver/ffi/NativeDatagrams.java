package org.jfabric.driver.ffi;

import org.agrona.UnsafeApi;

import java.lang.foreign.SymbolLookup;

/** Functions of libibverbs for unreliable datagrams. Any thread; slow. */
final class NativeDatagrams {
    /** Number of the first packet; receivers of datagrams ignore it. The same value as in libfabric. */
    private static final int FIRST_PACKET = 0xff_ffff;

    private final NativeFunction queryGid;
    private final NativeFunction queryPkey;
    private final NativeFunction createQp;
    private final NativeFunction modifyQp;
    private final NativeFunction destroyQp;
    private final NativeFunction createAh;
    private final NativeFunction destroyAh;
    private final NativeFunction attachMcast;
    private final NativeFunction detachMcast;

    NativeDatagrams(SymbolLookup lookup) {
        queryGid = NativeFunction.ofInt(lookup, "ibv_query_gid", 4);
        queryPkey = NativeFunction.ofInt(lookup, "ibv_query_pkey", 4);
        createQp = NativeFunction.ofPointer(lookup, "ibv_create_qp", 2);
        modifyQp = NativeFunction.ofInt(lookup, "ibv_modify_qp", 3);
        destroyQp = NativeFunction.ofInt(lookup, "ibv_destroy_qp", 1);
        createAh = NativeFunction.ofPointer(lookup, "ibv_create_ah", 2);
        destroyAh = NativeFunction.ofInt(lookup, "ibv_destroy_ah", 1);
        attachMcast = NativeFunction.ofInt(lookup, "ibv_attach_mcast", 3);
        detachMcast = NativeFunction.ofInt(lookup, "ibv_detach_mcast", 3);
    }

    byte[] gid(long context, int port, int index) {
        long at = NativeMemory.allocate(Ibverbs.GID_BYTES);
        try {
            return queryGid.errnoStatus(context, port, index, at) < 0 ? null
                : NativeMemory.bytes(at, Ibverbs.GID_BYTES);
        } finally {
            NativeMemory.free(at);
        }
    }

    short partitionKey(long context, int port) {
        long at = NativeMemory.allocate(Short.BYTES);
        try {
            return queryPkey.errnoStatus(context, port, 0, at) < 0 ? 0 : UnsafeApi.getShort(at);
        } finally {
            NativeMemory.free(at);
        }
    }

    RdmaCm.QueuePair createQueuePair(long domain, long queue, RdmaCm.QueueDepths depths) {
        long at = NativeMemory.allocate(VerbsLayout.QP_INIT_SIZE);
        try {
            UnsafeApi.putLong(at + VerbsLayout.QP_INIT_SEND_CQ, queue);
            UnsafeApi.putLong(at + VerbsLayout.QP_INIT_RECV_CQ, queue);
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_SEND_WR, depths.sends());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_RECV_WR, depths.receives());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_SEND_SGE, depths.sendPieces());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_RECV_SGE, 1);
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_MAX_INLINE, depths.inlineBytes());
            UnsafeApi.putInt(at + VerbsLayout.QP_INIT_TYPE, VerbsConstants.QPT_UD);
            long made = createQp.pointer(domain, at);
            return new RdmaCm.QueuePair(made, made < 0 ? 0 : UnsafeApi.getInt(at + VerbsLayout.QP_INIT_MAX_INLINE));
        } finally {
            NativeMemory.free(at);
        }
    }

    int start(long queuePair, int port, int key) {
        long at = NativeMemory.allocate(VerbsLayout.QP_ATTR_SIZE);
        try {
            UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_STATE, VerbsConstants.QPS_INIT);
            UnsafeApi.putShort(at + VerbsLayout.QP_ATTR_PKEY_INDEX, (short) 0);
            UnsafeApi.putByte(at + VerbsLayout.QP_ATTR_PORT, (byte) port);
            UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_QKEY, key);
            int result = modifyQp.errnoStatus(queuePair, at, VerbsConstants.QP_STATE | VerbsConstants.QP_PKEY_INDEX
                | VerbsConstants.QP_PORT | VerbsConstants.QP_QKEY);
            if (result == 0) {
                UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_STATE, VerbsConstants.QPS_RTR);
                result = modifyQp.errnoStatus(queuePair, at, VerbsConstants.QP_STATE);
            }
            if (result == 0) {
                UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_STATE, VerbsConstants.QPS_RTS);
                UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_SQ_PSN, FIRST_PACKET);
                result = modifyQp.errnoStatus(queuePair, at, VerbsConstants.QP_STATE | VerbsConstants.QP_SQ_PSN);
            }
            return result;
        } finally {
            NativeMemory.free(at);
        }
    }

    int resume(long queuePair) {
        long at = NativeMemory.allocate(VerbsLayout.QP_ATTR_SIZE);
        try {
            UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_STATE, VerbsConstants.QPS_RTS);
            UnsafeApi.putInt(at + VerbsLayout.QP_ATTR_CURRENT_STATE, VerbsConstants.QPS_SQE);
            return modifyQp.errnoStatus(
                queuePair, at, VerbsConstants.QP_STATE | VerbsConstants.QP_CURRENT_STATE);
        } finally {
            NativeMemory.free(at);
        }
    }

    int destroyQueuePair(long queuePair) {
        return destroyQp.errnoStatus(queuePair);
    }

    long createAddressHandle(long domain, byte[] route) {
        long at = NativeMemory.allocate(VerbsLayout.AH_ATTR_SIZE);
        try {
            NativeMemory.put(at, route);
            return createAh.pointer(domain, at);
        } finally {
            NativeMemory.free(at);
        }
    }

    int destroyAddressHandle(long handle) {
        return destroyAh.errnoStatus(handle);
    }

    int attach(long queuePair, byte[] route) {
        return withGroup(attachMcast, queuePair, route);
    }

    int detach(long queuePair, byte[] route) {
        return withGroup(detachMcast, queuePair, route);
    }

    private static int withGroup(NativeFunction function, long queuePair, byte[] route) {
        long at = NativeMemory.allocate(Ibverbs.GID_BYTES);
        try {
            NativeMemory.put(at, AddressRoute.gid(route));
            return function.errnoStatus(queuePair, at, AddressRoute.lid(route));
        } finally {
            NativeMemory.free(at);
        }
    }
}
