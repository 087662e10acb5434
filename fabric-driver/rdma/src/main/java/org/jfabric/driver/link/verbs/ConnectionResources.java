package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.Ibverbs;
import org.jfabric.driver.ffi.RdmaCm;
import org.jfabric.driver.ffi.ReceiveRequests;
import org.jfabric.driver.ffi.SendRequests;
import org.jfabric.driver.ffi.VerbsLibraries;
import org.jfabric.driver.ffi.VerbsSelfCheck;
import org.jfabric.driver.link.PieceList;
import org.jfabric.info.FabricErrno;

/**
 * The resources that one connection has of a device: memory, its registration, reserved entries of a completion queue,
 * and the queue pair with all its receives posted. Made and freed on the resource thread.
 */
final class ConnectionResources {
    /** Bit in the id of a work request: it is a receive. */
    static final int RECEIVE = 1 << 30;

    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final Ibverbs verbs;
    private final RdmaCm cm;
    private final VerbsSettings settings;
    private final long id;
    private PinnedMemory memory;
    private CompletionRing queue;
    private long queuePair;
    private SendRequests sendRequests;
    private ReceiveRequests receiveRequests;
    private boolean isInError;
    private VerbsWriter writer;
    private VerbsReader reader;

    ConnectionResources(ProtectionDomain domain, VerbsLibraries libraries, VerbsSettings settings, long id) {
        this.device = domain.device();
        this.domain = domain;
        this.verbs = libraries.ibverbs();
        this.cm = libraries.cm();
        this.settings = settings;
        this.id = id;
    }

    /**
     * Makes all resources.
     *
     * @param number of the connection, the upper half of the ids of its work requests.
     * @throws org.jfabric.info.FabricException if one cannot be made; the others have been freed.
     */
    void open(int number) {
        try {
            device.open(id);
            memory = new PinnedMemory(verbs, domain.open(), settings.pinnedBytes());
            if (settings.allShare()) {
                domain.openReceives();
            }
            queue = device.reserve(settings.completions(), settings.allShare() ? domain : null);
            int pieces = Math.min(PieceList.MAX_PIECES, device.attributes().maxPieces());
            RdmaCm.QueuePair made = createQueuePair(pieces);
            queuePair = VerbsDevice.checked("rdma_create_qp", made.pointer());
            VerbsSelfCheck.checkConnected(verbs, device.context(), domain.pointer(), queuePair);
            long firstId = (long) number << Integer.SIZE;
            long sendMemory = memory.address() + (long) settings.receives() * settings.receiveBytes();
            sendRequests = new SendRequests(settings.sends(), pieces, firstId);
            writer = new VerbsWriter(new SendRing(device.path(), queuePair, sendRequests, sendMemory, memory.key(),
                settings.sendBytes(), made.inlineBytes(), settings.signalEvery()), domain.keys());
            reader = shared() == null ? openReceives(firstId | RECEIVE)
                : new VerbsReader(shared().slots(), true);
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    private VerbsReader openReceives(long firstId) {
        int count = settings.receives();
        int bytes = settings.receiveBytes();
        receiveRequests = new ReceiveRequests(count, firstId, memory.address(), bytes, memory.key());
        ReceiveSlots slots = new OwnSlots(
            device.path(), queuePair, receiveRequests, count, memory.address(), bytes);
        VerbsDevice.checked("ibv_post_recv", slots.postAll());
        return new VerbsReader(slots, false);
    }

    /** Devices do not report their inline limit: the size is halved until the device accepts it. */
    private RdmaCm.QueuePair createQueuePair(int pieces) {
        RdmaCm.QueuePair made = null;
        for (int inline = settings.inlineBytes(); made == null || made.pointer() < 0; inline /= 2) {
            made = cm.createQueuePair(id, domain.pointer(), queue.pointer(), new RdmaCm.QueueDepths(
                settings.sends(), settings.receives(), pieces, inline,
                shared() == null ? 0 : shared().queue()));
            if (made.pointer() >= 0 || inline == 0 || made.pointer() != -FabricErrno.EINVAL) {
                // a device may grant more than was requested; the configured limit still applies to our copies
                return new RdmaCm.QueuePair(made.pointer(), Math.min(made.inlineBytes(), settings.inlineBytes()));
            }
        }
        return made;
    }

    /** Moves the queue pair to the error state: the card releases all memory. Progress agent; idempotent. */
    void toError() {
        if (!isInError) {
            isInError = true;
            verbs.modifyToError(queuePair);
        }
    }

    /** Frees what was made; idempotent. */
    void close() {
        if (queuePair > 0) {
            cm.destroyQueuePair(id);
            queuePair = 0;
        }
        if (queue != null) {
            queue.release(settings.completions());
            queue = null;
        }
        if (sendRequests != null) {
            sendRequests.close();
            sendRequests = null;
        }
        if (receiveRequests != null) {
            receiveRequests.close();
            receiveRequests = null;
        }
        if (memory != null) {
            memory.close();
        }
    }

    VerbsDevice device() {
        return device;
    }

    /** The receives that it shares with others; null if it has its own. */
    SharedReceiveQueue shared() {
        return settings.allShare() ? domain.shared() : null;
    }

    RegionKeys keys() {
        return domain.keys();
    }

    CompletionRing queue() {
        return queue;
    }

    long queuePair() {
        return queuePair;
    }

    VerbsWriter writer() {
        return writer;
    }

    VerbsReader reader() {
        return reader;
    }
}
