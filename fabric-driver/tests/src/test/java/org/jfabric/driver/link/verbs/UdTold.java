package org.jfabric.driver.link.verbs;

import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;
import org.jfabric.driver.link.Channel;
import org.jfabric.driver.link.ChannelHandler;
import org.jfabric.info.Flags;

/** The engine's side of one address: keeps what it is told. */
final class UdTold extends ChannelHandler {
    final String address;
    final List<byte[]> messages = new ArrayList<>();
    final List<Long> flags = new ArrayList<>();
    final List<Long> data = new ArrayList<>();
    final List<Long> sent = new ArrayList<>();
    final List<Integer> errnos = new ArrayList<>();
    Channel channel;
    private final UdNode owner;

    UdTold(UdNode owner, String address) {
        this.owner = owner;
        this.address = address;
    }

    @Override
    public int onOpening() {
        return 0;
    }

    @Override
    public void onUp(Channel up) {
        channel = up;
    }

    @Override
    public void onMessage(long messageFlags, long tag, long cqData, long at, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = UnsafeApi.getByte(at + i);
        }
        messages.add(bytes);
        flags.add(messageFlags);
        data.add((messageFlags & Flags.REMOTE_CQ_DATA) != 0 ? cqData : -1);
        owner.posted--;
    }

    @Override
    public void onSent(long operation, int errno) {
        sent.add(operation);
        errnos.add(errno);
        owner.ended.add(operation);
    }

    // ---- what this wire does not have ----

    @Override
    public void onDown(int errno) {
        throw notHere();
    }

    @Override
    public void onWritable() {
        throw notHere();
    }

    private static AssertionError notHere() {
        return new AssertionError("this wire has no such frame");
    }
}
