package org.jfabric.driver.ffi;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.agrona.UnsafeApi;
import org.jfabric.ffi.EventFd;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.SocketName;

/**
 * Unreliable datagrams of a device in memory: the half of {@link FakeVerbs} with these calls. Datagrams that find no
 * receive, or another Q_Key, are lost, as with real cards.
 */
public abstract class FakeDatagrams implements Ibverbs, RdmaCm {
    /** Q_Key that the connection manager gives groups. */
    public static final int GROUP_KEY = 0x0123_4567;
    private static final int GROUP_QUEUE_PAIR = 0xff_ffff;

    /** The network between devices: queue pairs by their number, and the members of groups by GID. */
    static final class Net {
        final Map<Integer, FakeDatagramPair> pairs = new HashMap<>();
        final Map<String, List<FakeDatagramPair>> groups = new HashMap<>();
        /** Datagrams that found no receive. */
        int lost;
        private int nextNumber = 0x100;
    }

    /** Answer of creating an address handle, if not 0: a positive errno. */
    public int addressHandleErrno;
    /** Status of the event of joining a group, a negative errno. */
    public int joinStatus;
    /** True if joining a group is never answered. */
    public boolean ignoresJoins;
    /** Address handles made so far. */
    public int handlesMade;
    /** Routes of all address handles that exist. */
    final Map<Long, byte[]> handles = new HashMap<>();
    private final Net net;
    private final byte[] host;
    private final Map<Long, Long> channels = new HashMap<>();
    private final Map<Long, ArrayDeque<GroupEvent>> groupEvents = new HashMap<>();
    private final Map<Long, Integer> joined = new HashMap<>();
    private int attached;
    private int openContexts;

    FakeDatagrams(Net net, String host) {
        this.net = net;
        this.host = SocketName.parse(SocketName.IN_SCHEME + host + ":0").inetAddress().getAddress();
    }

    /** Returns the data path of its queue pairs. */
    abstract FakeDataPath datagramPath();

    /**
     * Objects of datagrams that were made and not given back.
     *
     * @return for messages of tests; empty if nothing is left.
     */
    public List<String> leftDatagrams() {
        List<String> left = new ArrayList<>();
        datagramPath().datagramPairs.values().forEach(pair -> left.add("queue pair"));
        handles.keySet().forEach(handle -> left.add("address handle"));
        joined.keySet().forEach(id -> left.add("membership"));
        if (attached != 0) {
            left.add(attached + " attached");
        }
        if (openContexts != 0) {
            left.add(openContexts + " contexts");
        }
        return left;
    }

    /**
     * Datagrams of the whole network that found no receive.
     *
     * @return count.
     */
    public int lostDatagrams() {
        return net.lost;
    }

    void opened(int change) {
        openContexts += change;
    }

    @Override
    public byte[] gid(long context, int port, int index) {
        ByteBuffer gid = ByteBuffer.allocate(GID_BYTES);
        switch (index) {
            case 0 -> gid.putLong(0, 0xfe80_0000_0000_0000L).putLong(8, 0x00ff_fe00_0000L | host[3]);
            case 1 -> gid.putShort(10, (short) -1).put(12, host);
            default -> {
                return null;
            }
        }
        return gid.array();
    }

    @Override
    public short partitionKey(long context, int port) {
        return -1;
    }

    @Override
    public QueuePair createDatagramQueuePair(long domain, long queue, QueueDepths depths) {
        if (depths.inlineBytes() > 512) {
            return new QueuePair(-FabricErrno.EINVAL, 0);
        }
        FakeDatagramPair pair = new FakeDatagramPair(this, net, queue, depths, net.nextNumber++);
        UnsafeApi.putLong(pair.pointer + VerbsLayout.QP_CONTEXT, UnsafeApi.getLong(domain + VerbsLayout.PD_CONTEXT));
        UnsafeApi.putLong(pair.pointer + VerbsLayout.QP_PD, domain);
        UnsafeApi.putInt(pair.pointer + VerbsLayout.QP_TYPE, VerbsConstants.QPT_UD);
        datagramPath().datagramPairs.put(pair.pointer, pair);
        net.pairs.put(pair.number, pair);
        return new QueuePair(pair.pointer, depths.inlineBytes());
    }

    @Override
    public int startDatagrams(long queuePair, int port, int key) {
        datagramPath().datagramPairs.get(queuePair).key = key;
        UnsafeApi.putInt(queuePair + VerbsLayout.QP_STATE, VerbsConstants.QPS_RTS);
        return 0;
    }

    @Override
    public int resumeSends(long queuePair) {
        datagramPath().datagramPairs.get(queuePair).isStopped = false;
        return 0;
    }

    @Override
    public int queuePairNumber(long queuePair) {
        FakeDatagramPair pair = datagramPath().datagramPairs.get(queuePair);
        return pair == null ? UnsafeApi.getInt(queuePair + VerbsLayout.QP_NUMBER) : pair.number;
    }

    @Override
    public int destroyDatagramQueuePair(long queuePair) {
        FakeDatagramPair pair = datagramPath().datagramPairs.remove(queuePair);
        net.pairs.remove(pair.number);
        if (net.groups.values().stream().anyMatch(members -> members.contains(pair))) {
            throw new AssertionError("the queue pair is attached to a group still");
        }
        return 0;
    }

    @Override
    public long createAddressHandle(long domain, byte[] route) {
        if (addressHandleErrno != 0) {
            return -addressHandleErrno;
        }
        long handle = NativeMemory.allocate(VerbsLayout.AH_SIZE);
        UnsafeApi.putLong(handle + VerbsLayout.AH_CONTEXT, UnsafeApi.getLong(domain + VerbsLayout.PD_CONTEXT));
        UnsafeApi.putLong(handle + VerbsLayout.AH_PD, domain);
        handles.put(handle, route);
        handlesMade++;
        return handle;
    }

    @Override
    public int destroyAddressHandle(long handle) {
        if (handles.remove(handle) == null) {
            throw new AssertionError("no such address handle");
        }
        NativeMemory.free(handle);
        return 0;
    }

    @Override
    public int attachGroup(long queuePair, byte[] route) {
        net.groups.computeIfAbsent(groupOf(route), gid -> new ArrayList<>())
            .add(datagramPath().datagramPairs.get(queuePair));
        attached++;
        return 0;
    }

    @Override
    public int detachGroup(long queuePair, byte[] route) {
        net.groups.get(groupOf(route)).remove(datagramPath().datagramPairs.get(queuePair));
        attached--;
        return 0;
    }

    static String groupOf(byte[] route) {
        return Arrays.toString(AddressRoute.gid(route));
    }

    @Override
    public long createDatagramId(long channel) {
        long id = createId(channel);
        channels.put(id, channel);
        return id;
    }

    @Override
    public int joinGroup(long id, byte[] group) {
        joined.put(id, 1);
        if (!ignoresJoins) {
            byte[] gid = new byte[GID_BYTES];
            gid[10] = -1;
            gid[11] = -1;
            System.arraycopy(SocketName.ofBytes(group).inetAddress().getAddress(), 0, gid, 12, 4);
            long channel = channels.get(id);
            groupEvents.computeIfAbsent(channel, key -> new ArrayDeque<>()).add(new GroupEvent(
                joinStatus == 0 ? VerbsConstants.CM_MULTICAST_JOIN : VerbsConstants.CM_MULTICAST_ERROR, joinStatus,
                AddressRoute.of(gid, 0, 0, 1, 1), GROUP_QUEUE_PAIR, GROUP_KEY));
            EventFd.write(eventChannelFd(channel), 1);
        }
        return 0;
    }

    @Override
    public int leaveGroup(long id, byte[] group) {
        joined.remove(id);
        return 0;
    }

    @Override
    public GroupEvent takeGroupEvent(long channel) {
        EventFd.drain(eventChannelFd(channel));
        ArrayDeque<GroupEvent> events = groupEvents.get(channel);
        return events == null ? null : events.poll();
    }

    @Override
    public int port(long id) {
        return 1;
    }
}
