package org.jfabric.driver.link.scripted;

import org.agrona.UnsafeApi;
import org.jfabric.driver.link.RemotePayload;
import org.jfabric.driver.link.TransmitOperation;

/** Something on its way to one end of a channel. */
final class Frame {
    static final int UP = 1;
    static final int MESSAGE = 2;
    static final int ANNOUNCE = 3;
    static final int SEGMENT_REQUEST = 4;
    static final int SEGMENT = 5;
    static final int FINISH = 6;
    static final int GRANT = 7;
    static final int DOWN = 8;
    static final int ACKNOWLEDGE = 9;

    final long memory;
    final RemotePayload source = new RemotePayload();
    int kind;
    int readyStep;
    int grant;
    long flags;
    long tag;
    long data;
    long id;
    long offset;
    long length;
    int errno;
    boolean streams;
    /** Of a pending send whose payload has not been read. */
    TransmitOperation operation;

    Frame(int capacity) {
        memory = UnsafeApi.allocateMemory(capacity);
    }

    /** Says where an announced payload is, piece by piece if the peer knows such announcements. */
    void describe(TransmitOperation announced, boolean vectors) {
        if (announced.pieces == null || !vectors) {
            long region = announced.region == null ? RemotePayload.NO_REGION : 1;
            source.set(announced.id(), announced.length, region, 0, announced.address);
            source.lentOffset(region == RemotePayload.NO_REGION ? 0 : announced.address - announced.region.address());
            return;
        }
        source.begin(announced.id());
        for (int i = 0; i < announced.pieces.count(); i++) {
            source.add(1, 0, announced.pieces.address(i), announced.pieces.length(i));
        }
    }

    void free() {
        UnsafeApi.freeMemory(memory);
    }
}
