package org.jfabric.driver.link.verbs;

import org.jfabric.FabricErrno;
import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsConstants;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.link.PieceList;

/**
 * What one connection holds of a device: memory, registration, a share of a completion queue, and the queue pair with
 * all its receives posted. Made and given back on the resource thread.
 */
final class ConnectionResources {
    private static final int PAGE_BYTES = 4096;
    /** In the number of a work request: it is a receive. */
    static final int RECEIVE = 1 << 30;

    private final VerbsDevice device;
    private final Ibverbs verbs;
    private final RdmaCm cm;
    private final VerbsSettings settings;
    private final long id;
    private HugePages memory;
    private long registration;
    private CompletionQueue queue;
    private long queuePair;
    private SendQueue sends;
    private ReceiveQueue receives;

    ConnectionResources(VerbsDevice device, VerbsLibraries libraries, VerbsSettings settings, long id) {
        this.device = device;
        this.verbs = libraries.ibverbs();
        this.cm = libraries.cm();
        this.settings = settings;
        this.id = id;
    }

    /**
     * Makes everything.
     *
     * @param index of the connection, in the upper half of its work requests' numbers.
     * @throws org.jfabric.FabricException what could not be made; the rest has been given back.
     */
    void open(int index) {
        try {
            device.open();
            long memoryBytes = (settings.pinnedBytes() + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
            memory = new HugePages(memoryBytes);
            registration = VerbsDevice.checked("ibv_reg_mr of " + memoryBytes + " bytes", verbs.register(
                device.domain(), memory.address(), memoryBytes, VerbsConstants.ACCESS_LOCAL_WRITE));
            queue = device.reserve(settings.completions());
            int pieces = Math.min(PieceList.MAX_PIECES, device.attributes().maxPieces());
            RdmaCm.QueuePair made = createQueuePair(pieces);
            queuePair = VerbsDevice.checked("rdma_create_qp", made.pointer());
            long firstId = (long) index << Integer.SIZE;
            int key = verbs.localKey(registration);
            long sendMemory = memory.address() + (long) settings.receives() * settings.receiveBytes();
            sends = new SendQueue(device.path(), queuePair, new SendRequests(settings.sends(), pieces, firstId),
                device.keys(), sendMemory, key, settings.sendBytes(), made.inlineBytes(), settings.signalEvery());
            receives = new ReceiveQueue(device.path(), queuePair, new ReceiveRequests(
                settings.receives(), firstId | RECEIVE, memory.address(), settings.receiveBytes(), key),
                settings.receives(), memory.address(), settings.receiveBytes());
            VerbsDevice.checked("ibv_post_recv", receives.postAll());
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** Devices do not say how many bytes they take inline: less is asked for until one says yes. */
    private RdmaCm.QueuePair createQueuePair(int pieces) {
        RdmaCm.QueuePair made = null;
        for (int inline = settings.inlineBytes(); made == null || made.pointer() < 0; inline /= 2) {
            made = cm.createQueuePair(id, device.domain(), queue.pointer(), new RdmaCm.QueueDepths(
                settings.sends(), settings.receives(), pieces, inline));
            if (made.pointer() >= 0 || inline == 0 || made.pointer() != -FabricErrno.EINVAL) {
                // a device that grants more than was asked for does not change what our own copies cost
                return new RdmaCm.QueuePair(made.pointer(), Math.min(made.inlineBytes(), settings.inlineBytes()));
            }
        }
        return made;
    }

    /** Gives back what was made; again does nothing. */
    void close() {
        if (queuePair > 0) {
            cm.destroyQueuePair(id);
            queuePair = 0;
        }
        if (queue != null) {
            queue.release(settings.completions());
            queue = null;
        }
        if (registration > 0) {
            verbs.deregister(registration);
            registration = 0;
        }
        if (memory != null) {
            memory.close();
        }
    }

    VerbsDevice device() {
        return device;
    }

    CompletionQueue queue() {
        return queue;
    }

    long queuePair() {
        return queuePair;
    }

    SendQueue sends() {
        return sends;
    }

    ReceiveQueue receives() {
        return receives;
    }
}
