package org.jfabric.driver.link.verbs;

import org.jfabric.driver.config.VerbsConfig;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsSelfCheck;
import org.jfabric.ffi.Libc;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;

/**
 * A queue pair with its registered memory and a completion queue of its own, which has room for all outstanding
 * requests of the queue pair and so cannot overrun.
 *
 * <pre>
 *   receives × slot of route and packet | sends × slot of a packet
 * </pre>
 *
 * <p>Made and closed on the resource thread, or when the driver closes; polled by the progress agent in between.
 */
final class VerbsUdQueuePair {
    /** Bit in the id of a work request: it is a receive. */
    static final long RECEIVE = 1L << Integer.SIZE;

    private static final int LINE_BYTES = 64;
    /** Room in front of a slot, so that the payload behind the route begins with a cache line. */
    private static final int SKIPPED_BYTES = LINE_BYTES - VerbsUdRoute.BYTES;

    private final VerbsUdPort port;
    private final Ibverbs verbs;
    private long memory;
    private long memoryBytes;
    private long registration;
    private long queue;
    private long pointer;
    private VerbsUdWriter writer;
    private VerbsUdReader reader;
    /** The card reports the next completion to the completion channel. */
    boolean isArmed;

    private VerbsUdQueuePair(VerbsUdPort port) {
        this.port = port;
        this.verbs = port.libraries().ibverbs();
    }

    static long memoryBytes(int receives, int sends, int packetBytes) {
        long bytes = (long) receives * receiveSlotBytes(packetBytes) + LINE_BYTES
            + (long) sends * sendSlotBytes(packetBytes);
        return PinnedMemory.pages(bytes);
    }

    private static int receiveSlotBytes(int packetBytes) {
        return LINE_BYTES + sendSlotBytes(packetBytes);
    }

    private static int sendSlotBytes(int packetBytes) {
        return (packetBytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
    }

    /** Opens one that sends and receives. */
    static VerbsUdQueuePair open(VerbsUdPort port) {
        return open(port, port.settings().sends(), VerbsUdPort.KEY, Flags.MSG);
    }

    /** Opens one that receives the datagrams of a group. */
    static VerbsUdQueuePair ofGroup(VerbsUdPort port, int key) {
        return open(port, 0, key, Flags.MSG | Flags.MULTICAST);
    }

    private static VerbsUdQueuePair open(VerbsUdPort port, int sends, int key, long messageFlags) {
        VerbsUdQueuePair made = new VerbsUdQueuePair(port);
        try {
            made.make(sends, key, messageFlags);
            return made;
        } catch (RuntimeException | Error e) {
            made.close();
            throw e;
        }
    }

    private void make(int sends, int key, long messageFlags) {
        VerbsUdSettings settings = port.settings();
        int receives = settings.receives();
        int packetBytes = port.place().packetBytes();
        requireQueue(receives + sends);
        memoryBytes = memoryBytes(receives, sends, packetBytes);
        memory = VerbsUdPort.checked("mmap of " + memoryBytes + " bytes", Libc.mmap(
            memoryBytes, Libc.PROT_READ | Libc.PROT_WRITE, Libc.MAP_PRIVATE | Libc.MAP_ANONYMOUS, -1, 0));
        registration = VerbsUdPort.checked("ibv_reg_mr of " + memoryBytes + " bytes", verbs.register(
            port.domain(), memory, memoryBytes, VerbsConstants.ACCESS_LOCAL_WRITE));
        queue = VerbsUdPort.checked("ibv_create_cq", verbs.createCompletionQueue(
            port.context(), receives + sends, port.channel()));
        RdmaCm.QueuePair made = create(Math.max(1, sends), receives, settings.inlineBytes());
        pointer = VerbsUdPort.checked("ibv_create_qp", made.pointer());
        int memoryKey = verbs.localKey(registration);
        int slotBytes = receiveSlotBytes(packetBytes);
        long first = memory + SKIPPED_BYTES;
        reader = new VerbsUdReader(port.path(), pointer, new ReceiveRequests(
            receives, RECEIVE, first, slotBytes, memoryKey), receives, first, slotBytes, messageFlags);
        if (sends > 0) {
            long sendMemory = memory + (long) receives * slotBytes + LINE_BYTES;
            writer = new VerbsUdWriter(new SendRing(port.path(), pointer, new SendRequests(sends, 1, 0), sendMemory,
                memoryKey, sendSlotBytes(packetBytes), Math.min(made.inlineBytes(), settings.inlineBytes()),
                settings.signalEvery()));
        }
        VerbsUdPort.checked("ibv_modify_qp", verbs.startDatagrams(pointer, port.place().port(), key));
        VerbsSelfCheck.checkDatagrams(verbs, port.context(), port.domain(), pointer);
        VerbsUdPort.checked("ibv_post_recv", reader.postAll());
    }

    private void requireQueue(int entries) {
        int most = verbs.queryDevice(port.context()).maxCompletions();
        if (entries > most) {
            throw new FabricException(FabricErrno.ENOSPC, "an endpoint has up to " + entries
                + " completions unread, but a queue of this device takes " + most,
                "Lower " + VerbsConfig.DATAGRAM_RECEIVES.name() + " or " + VerbsConfig.SENDS.name() + '.');
        }
    }

    /** Devices do not report their inline limit: the size is halved until the device accepts it. */
    private RdmaCm.QueuePair create(int sends, int receives, int inlineBytes) {
        RdmaCm.QueuePair made = null;
        for (int inline = inlineBytes; made == null; inline /= 2) {
            RdmaCm.QueuePair tried = verbs.createDatagramQueuePair(
                port.domain(), queue, new RdmaCm.QueueDepths(sends, receives, 1, inline, 0));
            made = tried.pointer() == -FabricErrno.EINVAL && inline > 0 ? null : tried;
        }
        return made;
    }

    long pointer() {
        return pointer;
    }

    long queue() {
        return queue;
    }

    /** Null if the queue pair is for a group. */
    VerbsUdWriter writer() {
        return writer;
    }

    VerbsUdReader reader() {
        return reader;
    }

    /** Frees everything; idempotent. */
    void close() {
        if (pointer > 0) {
            verbs.destroyDatagramQueuePair(pointer);
            pointer = 0;
        }
        if (writer != null) {
            writer.release();
            writer = null;
        }
        if (reader != null) {
            reader.release();
            reader = null;
        }
        if (queue > 0) {
            verbs.destroyCompletionQueue(queue);
            queue = 0;
        }
        if (registration > 0) {
            verbs.deregister(registration);
            registration = 0;
        }
        if (memory > 0) {
            Libc.munmap(memory, memoryBytes);
            memory = 0;
        }
    }
}
