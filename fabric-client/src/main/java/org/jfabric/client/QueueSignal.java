package org.jfabric.client;

import org.agrona.UnsafeApi;

/**
 * Signals a commit to a transmit or receive queue to the driver: sets the endpoint's activity byte and, if the driver
 * sleeps, rings the doorbell.
 *
 * <p>Owner: the submitting thread of the endpoint's queue, unless a method says otherwise.
 */
public final class QueueSignal {
    private final long activityAddress;
    private final long parkedAddress;
    private final Doorbell doorbell;

    /**
     * The signal of one endpoint.
     *
     * @param activityAddress native address of the endpoint's activity byte.
     * @param parkedAddress   native address of the driver's parked word, or 0 if the driver never sleeps.
     * @param doorbell        rung if the driver sleeps; may be null if it never does.
     */
    public QueueSignal(long activityAddress, long parkedAddress, Doorbell doorbell) {
        this.activityAddress = activityAddress;
        this.parkedAddress = parkedAddress;
        this.doorbell = doorbell;
    }

    /**
     * Wakes the driver after a change that it waits for: entries were read, or a counter was changed. Any thread.
     *
     * @param awaitedAddress native address of the word that says whether the driver waits for it.
     */
    public void onChange(long awaitedAddress) {
        if (parkedAddress == 0) {
            return;
        }
        // The driver sets the word, later parked, fences and reads once more what the client has changed.
        UnsafeApi.fullFence();
        if (UnsafeApi.getIntAcquire(null, awaitedAddress) != 0
            && UnsafeApi.getIntAcquire(null, parkedAddress) != 0) {
            doorbell.ring();
        }
    }

    /**
     * Wakes the driver if it sleeps: the calling thread is about to, has announced that, and wants to be woken by it.
     * Any thread.
     */
    public void onSleep() {
        // the announcement has fenced; the driver sets parked, fences and looks at those who sleep
        if (parkedAddress != 0 && UnsafeApi.getIntAcquire(null, parkedAddress) != 0) {
            doorbell.ring();
        }
    }

    /** Signals a commit that was just made to the driver. */
    public void onCommit() {
        if (parkedAddress == 0) {
            // No fence: should the driver clear the byte at this very moment, its rotation finds the record.
            if (UnsafeApi.getByte(activityAddress) == 0) {
                UnsafeApi.putByteRelease(null, activityAddress, (byte) 1);
            }
            return;
        }
        // The driver sets parked, fences and polls once more; one of both sides sees the other's store.
        UnsafeApi.fullFence();
        if (UnsafeApi.getByte(activityAddress) == 0) {
            UnsafeApi.putByteRelease(null, activityAddress, (byte) 1);
            UnsafeApi.fullFence();
        }
        if (UnsafeApi.getIntAcquire(null, parkedAddress) != 0) {
            doorbell.ring();
        }
    }
}
