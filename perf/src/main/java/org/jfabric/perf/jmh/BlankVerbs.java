package org.jfabric.perf.jmh;

import java.lang.foreign.Arena;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import org.agrona.UnsafeApi;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.ffi.EventFd;
import org.jfabric.ffi.Libc;
import org.jfabric.info.SocketName;

/**
 * Libraries with one device, whose control calls succeed and whose peers take every connection. A proxy, because the
 * link calls few of their functions for one connection, none of them per message; one that is not known here fails.
 */
final class BlankVerbs implements InvocationHandler, AutoCloseable {
    /** Larger than any structure that is read. */
    private static final int STRUCTURE_BYTES = 512;
    private static final byte[] ADDRESS = SocketName.parse("fi_sockaddr_in://10.0.0.1:7471").toBytes();
    private static final byte[] NO_DATA = new byte[196];

    // offsets: struct ibv_mr, ibv_comp_channel, ibv_cq, ibv_qp
    private static final int MR_PD = 8;
    private static final int MR_ADDRESS = 16;
    private static final int MR_LENGTH = 24;
    private static final int CHANNEL_FD = 8;
    private static final int CQ_CHANNEL = 8;
    private static final int CQ_ENTRIES = 28;
    private static final int QP_PD = 16;
    private static final int QP_STATE = 56;
    private static final int QUEUE_PAIR = 0x11;

    private final Arena arena = Arena.ofShared();
    private final BlankDataPath dataPath = new BlankDataPath();
    private final Queue<RdmaCm.CmEvent> events = new ArrayDeque<>();
    /** Its functions are only checked for presence. */
    private final long context = structure(96, 1, 104, 1, 168, 1, 208, 1, 216, 1);
    private final int fd = EventFd.create();

    BlankDataPath dataPath() {
        return dataPath;
    }

    VerbsLibraries libraries() {
        Object proxy = Proxy.newProxyInstance(
            BlankVerbs.class.getClassLoader(), new Class<?>[] {Ibverbs.class, RdmaCm.class}, this);
        return new VerbsLibraries((Ibverbs) proxy, (RdmaCm) proxy);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] args) {
        return switch (method.getName()) {
            case "dataPath" -> dataPath;
            case "context", "deviceOf" -> context;
            case "deviceName" -> "blank0";
            case "queryDevice" -> new Ibverbs.DeviceAttributes(1, 1, 1000, 16384, 16, 1000, 1 << 16, 16, 1);
            case "channelFd", "eventChannelFd", "asyncFd" -> fd;
            case "allocateDomain" -> structure(0, context);
            case "createChannel" -> structure(0, context, CHANNEL_FD, fd);
            case "createCompletionQueue" ->
                structure(0, context, CQ_CHANNEL, (long) args[2], CQ_ENTRIES, (int) args[1]);
            case "register" -> structure(
                0, context, MR_PD, (long) args[0], MR_ADDRESS, (long) args[1], MR_LENGTH, (long) args[2]);
            case "queuePairNumber" -> QUEUE_PAIR;
            case "isIwarp" -> false;
            case "localKey", "remoteKey" -> 1;
            case "createEventChannel", "createId", "queuePair" -> structure();
            case "createQueuePair" ->
                new RdmaCm.QueuePair(queuePair((long) args[1]), ((RdmaCm.QueueDepths) args[3]).inlineBytes());
            case "localAddress", "peerAddress" -> ADDRESS;
            case "resolveAddress" -> happen(VerbsConstants.CM_ADDR_RESOLVED, (long) args[0]);
            case "resolveRoute" -> happen(VerbsConstants.CM_ROUTE_RESOLVED, (long) args[0]);
            case "connect" -> happen(VerbsConstants.CM_ESTABLISHED, (long) args[0]);
            case "takeEvent" -> {
                EventFd.drain(fd);
                yield events.poll();
            }
            case "takeAsyncEvent" -> null;
            case "takeChannelEvent" -> -1L;
            case "bind", "modifyRnrTimer", "disconnect", "destroyId", "destroyChannel", "destroyCompletionQueue",
                "deregister", "freeDomain" -> 0;
            case "destroyQueuePair", "destroyEventChannel" -> null;
            default -> throw new UnsupportedOperationException(method.toString());
        };
    }

    private int happen(int type, long id) {
        events.add(new RdmaCm.CmEvent(type, 0, id, 0, NO_DATA));
        EventFd.write(fd, 1);
        return 0;
    }

    /** Its type is the upper half of the word with its state. */
    private long queuePair(long domain) {
        long stateAndType = (long) VerbsConstants.QPT_RC << Integer.SIZE | VerbsConstants.QPS_INIT;
        return structure(0, context, QP_PD, domain, QP_STATE, stateAndType);
    }

    /** Zeros, and words at offsets in them; one that follows may lie over the upper half of one before. */
    private long structure(long... words) {
        long at = arena.allocate(STRUCTURE_BYTES, Long.BYTES).address();
        for (int i = 0; i < words.length; i += 2) {
            UnsafeApi.putLong(at + words[i], words[i + 1]);
        }
        return at;
    }

    @Override
    public void close() {
        Libc.close(fd);
        arena.close();
    }
}
