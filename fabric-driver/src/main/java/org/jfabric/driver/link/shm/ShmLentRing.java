package org.jfabric.driver.link.shm;

import org.jfabric.client.LentRing;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.layout.RecordConsumer;

/**
 * A peer's ring while messages in it are lent. As long as they are, its position is not published beyond the oldest of
 * them, and its memory stays mapped, whatever becomes of the connection.
 *
 * <p>Owner: progress agent, in INVOKER mode: the thread of the application.
 */
final class ShmLentRing extends LentRing {
    private final ShmConnection connection;
    private final ShmFiles files;
    private final RecordConsumer consumer;
    private int holders;
    /** Not null when the connection has ended: for giving back its memory. */
    private LinkServices ended;

    ShmLentRing(ShmConnection connection, ShmFiles files, RecordConsumer consumer) {
        this.connection = connection;
        this.files = files;
        this.consumer = consumer;
    }

    @Override
    public boolean keep(long address) {
        return consumer.keep(address);
    }

    @Override
    public void retain() {
        holders++;
    }

    @Override
    public void giveBack() {
        // of what the application has read; in front of what cannot be done again
        FaultPoint.pass();
        if (--holders == 0) {
            if (ended == null) {
                consumer.giveBack();
            } else {
                files.unmap(ended);
            }
        }
    }

    @Override
    public boolean endIfCut() {
        if (!files.isCut()) {
            return false;
        }
        connection.onCut();
        return true;
    }

    /** The connection has ended: gives its memory back, now or when nothing of it is lent any more. */
    void release(LinkServices services) {
        if (holders == 0) {
            files.release(services);
        } else {
            files.hangUp(services);
            ended = services;
        }
    }
}
