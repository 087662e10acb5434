package org.jfabric.perf.compare;

import org.jfabric.Completion;
import org.jfabric.CompletionHandler;
import org.jfabric.CompletionQueue;
import org.jfabric.Endpoint;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.tool.PingPongContents;
import org.jfabric.tool.PingPongFabric;
import org.jfabric.tool.ToolException;

/**
 * JFabric's tagged messages with receives posted ahead and every entry read. Timed passes receive all messages at one
 * place and send them from one, as the C tools do; the verifying pass gives each posted receive a slot of its own.
 *
 * <p>All messages have one tag, or their tags cycle through a number of tags, in the order in which the receives are
 * posted; then each posted receive accepts only one message.
 */
final class JFabricPort implements Port, CompletionHandler {
    /** Default number of receives that are kept posted. */
    static final int RECEIVES = PingPongFabric.QUEUE_SIZE;

    private static final long TAG = 0x636d70L;
    private static final long SEND = -1;
    private static final int POLL_LIMIT = 16;

    private final PingPongFabric fabric;
    private final Endpoint endpoint;
    private final CompletionQueue queue;
    private final long peer;
    private final long sizeBytes;
    private final long sendAddress;
    private final long receiveAddress;
    private final long slotBytes;
    private final boolean sendEntries;
    private final boolean comparing;
    private final int receives;
    private final int tags;

    private long posted;
    private int slot;
    private long receiveTag = TAG;
    private long sendTag = TAG;
    private long received;
    private int underWay;

    /**
     * Posts all receives.
     *
     * @param sendEntries true if sends write completion entries; these limit how many sends are in flight.
     * @param comparing   true to compare what is received; the fabric then has a slot for each receive.
     * @param tags        that the messages go through, 1 for all the same.
     */
    JFabricPort(PingPongFabric fabric, long peer, long sizeBytes, boolean sendEntries, boolean comparing, int receives,
        int tags) {
        this.fabric = fabric;
        this.peer = peer;
        this.sizeBytes = sizeBytes;
        this.sendEntries = sendEntries;
        this.comparing = comparing;
        this.receives = receives;
        this.tags = tags;
        endpoint = fabric.endpoint();
        queue = fabric.queue();
        sendAddress = fabric.sendRegion().address(0);
        receiveAddress = fabric.receiveRegion().address(0);
        slotBytes = comparing ? sizeBytes : 0;
        postReceives();
    }

    @Override
    public boolean trySend() {
        if (underWay == SideSettings.WINDOW) {
            return false;
        }
        int result = endpoint.tsend(sendAddress, sizeBytes, peer, sendTag, SEND);
        if (result == 0) {
            sendTag = after(sendTag);
            if (sendEntries) {
                underWay++;
            }
            return true;
        }
        if (result != -FabricErrno.EAGAIN) {
            throw refused(result);
        }
        return false;
    }

    @Override
    public void poll() {
        int result = queue.poll(this, POLL_LIMIT);
        if (result < 0 && result != -FabricErrno.EAGAIN) {
            throw refused(result);
        }
        // An answer goes before the next receive, which is posted while nothing else is to be done, or in good time.
        long missing = receives - (posted - received);
        if (missing > RECEIVES / 2 || missing > 0 && result <= 0) {
            postReceives();
        }
    }

    @Override
    public long received() {
        return received;
    }

    @Override
    public void onCompletion(Completion completion) {
        if (completion.opContext() == SEND) {
            underWay--;
        } else {
            if (comparing) {
                compare(completion);
            }
            received++;
        }
    }

    /** Sends a message with contents of its own and waits until its memory may be changed again. */
    void sendFilled(long message) {
        PingPongContents.fill(fabric.sendRegion().segment(), sizeBytes, message);
        while (!trySend()) {
            poll();
        }
        while (underWay > 0) {
            poll();
        }
    }

    private void compare(Completion completion) {
        if (completion.len() != sizeBytes) {
            throw new ToolException("Message " + received + " of the stream arrived with " + completion.len()
                + " bytes instead of " + sizeBytes + "; this is a defect of JFabric, please report it.");
        }
        long place = completion.opContext() % receives * slotBytes;
        long position = PingPongContents.mismatch(
            fabric.receiveRegion().segment().asSlice(place, sizeBytes), sizeBytes, received);
        if (position >= 0) {
            throw new ToolException("Byte " + position + " of message " + received
                + " of the stream is not as sent; this is a defect of JFabric, please report it.");
        }
    }

    private void postReceives() {
        while (posted - received < receives) {
            int result = endpoint.trecv(receiveAddress + slot * slotBytes, sizeBytes,
                FabricAddress.ADDR_UNSPEC, receiveTag, 0, posted);
            if (result == -FabricErrno.EAGAIN) {
                return;
            }
            if (result != 0) {
                throw refused(result);
            }
            posted++;
            // counted, because a division takes as long as a good part of the call
            slot = slot + 1 == receives ? 0 : slot + 1;
            receiveTag = after(receiveTag);
        }
    }

    private long after(long tag) {
        return tag + 1 == TAG + tags ? TAG : tag + 1;
    }

    private ToolException refused(int result) {
        return new ToolException(result == -FabricErrno.EAVAIL ? fabric.failure()
            : "A transfer was refused with " + FabricErrno.name(-result) + " (" + FabricErrno.describe(-result) + ").");
    }
}
