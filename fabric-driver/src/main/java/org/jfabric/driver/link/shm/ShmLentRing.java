package org.jfabric.driver.link.shm;

import org.jfabric.client.LentRing;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.resource.FaultPoint;
import org.jfabric.layout.RecordConsumer;

/**
 * A peer's ring in which messages are lent to an application. While any is lent, the read position is not published
 * beyond the oldest one, and the memory stays mapped, even if the connection ends.
 *
 * <p>Owner: progress agent, in INVOKER mode: the thread of the application.
 */
final class ShmLentRing extends LentRing {
    private final ShmConnection connection;
    private final ShmFiles files;
    private final RecordConsumer consumer;
    private int holders;
    /** Set when the connection has ended, to release its memory later; null before. */
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
        // reports faults of the application's reads, before steps that must not be repeated
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
        if (!files.isCut(connection.usableLength(), consumer.reached())) {
            return false;
        }
        connection.onCut();
        return true;
    }

    /** The connection has ended: releases its memory, now or when the last lent message is given back. */
    void release(LinkServices services) {
        if (holders == 0) {
            files.release(services);
        } else {
            files.hangUp(services);
            ended = services;
        }
    }
}
