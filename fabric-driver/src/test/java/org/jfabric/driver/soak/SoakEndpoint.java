package org.jfabric.driver.soak;

import org.jfabric.Endpoint;
import org.jfabric.FabricAddress;
import org.jfabric.FabricErrno;
import org.jfabric.Flags;

import java.util.ArrayList;
import java.util.List;

/** An endpoint, and what it has posted since the last barrier. */
final class SoakEndpoint {
    final SoakClient client;
    final int index;
    final Endpoint endpoint;
    final SoakMemory memory;
    final SoakQueue tx;
    final SoakQueue rx;
    boolean selectiveSends;
    boolean selectiveReceives;
    /** Operation flags of calls without flags of their own. */
    long sendDefault = Flags.TRANSMIT_COMPLETE;
    long receiveDefault;
    long txSize;
    long rxSize;
    /** The others in this endpoint's address vector; the same numbers at all of them would hide mistakes. */
    long[] addresses;
    /** In posting order. */
    final List<SoakMessage> sends = new ArrayList<>();
    final List<SoakReceive> receives = new ArrayList<>();
    /** Receives whose cancellation was asked for, in the order of the calls. */
    final List<SoakReceive> cancels = new ArrayList<>();
    /** Messages that others have posted to it, in the order of the calls. */
    final List<SoakMessage> inbound = new ArrayList<>();
    /** Sends that are not known to have ended. */
    int openSends;

    SoakEndpoint(
        SoakClient client, int index, Endpoint endpoint, SoakMemory memory, SoakQueue tx, SoakQueue rx) {
        this.client = client;
        this.index = index;
        this.endpoint = endpoint;
        this.memory = memory;
        this.tx = tx;
        this.rx = rx;
        tx.senders.add(this);
        rx.receivers.add(this);
    }

    void onEnabled() {
        txSize = endpoint.txSizeLeft();
        rxSize = endpoint.rxSizeLeft();
    }

    /** The endpoint that an address of this one's vector means; -1 for none. */
    int indexOf(long address) {
        for (int i = 0; i < addresses.length; i++) {
            if (addresses[i] == address) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Whether a send may be posted without the danger that the operations of all sides wait for each other: where sends
     * and receives share slots, some are left to receives, since a send may wait for a receive at the other side.
     */
    boolean maySend() {
        return mayPost(6);
    }

    /** As {@link #maySend}, with as many slots left for each endpoint that receives. */
    boolean mayPost(int leave) {
        if (endpoint.txSizeLeft() == txSize) {
            openSends = 0;
        }
        if (tx.receivers.isEmpty()) {
            return true;
        }
        int open = 0;
        for (SoakEndpoint other : tx.senders) {
            if (other.endpoint.txSizeLeft() == other.txSize) {
                other.openSends = 0;
            }
            open += other.openSends;
        }
        return open < tx.size - leave * tx.receivers.size();
    }

    /** Submits a send; 0 or what the call answered. */
    int post(SoakMessage message, int offset, long destination) {
        long context = message.id;
        int length = message.length;
        long buf = memory.at(offset);
        return switch (message.call) {
            case "tsend" -> endpoint.tsend(buf, length, destination, message.tag, context);
            case "tsenddata" -> endpoint.tsenddata(buf, length, message.id, destination, message.tag, context);
            case "tsendmsg" -> endpoint.tsendmsg(
                buf, length, destination, message.tag, message.id, context, message.flags);
            case "send" -> endpoint.send(buf, length, destination, context);
            case "senddata" -> endpoint.senddata(buf, length, message.id, destination, context);
            case "sendmsg" -> endpoint.sendmsg(buf, length, destination, message.id, context, message.flags);
            case "tinject" -> endpoint.tinject(
                memory.region().buffer(), offset, length, destination, message.tag);
            case "inject" -> endpoint.inject(memory.region().buffer(), offset, length, destination);
            default -> throw new AssertionError(message.call);
        };
    }

    /** Submits a receive; 0 or what the call answered. */
    int post(SoakReceive receive, long buf, long source) {
        return switch (receive.call) {
            case "trecv" -> endpoint.trecv(
                buf, receive.length, source, receive.tag, receive.ignore, receive.context);
            case "trecvmsg" -> endpoint.trecvmsg(buf, receive.length, source, receive.tag, receive.ignore,
                receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "recv" -> endpoint.recv(buf, receive.length, source, receive.context);
            case "recvmsg" -> endpoint.recvmsg(
                buf, receive.length, source, receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            default -> throw new AssertionError(receive.call);
        };
    }

    /** The source of a receive as its call takes it. */
    long sourceOf(SoakReceive receive) {
        return receive.source < 0 ? FabricAddress.ADDR_UNSPEC : addresses[receive.source];
    }

    String state() {
        StringBuilder text = new StringBuilder(String.format(
            "e%d %s: txSizeLeft %d of %d, rxSizeLeft %d of %d, tx %s, rx %s%s%n", index, endpoint,
            endpoint.txSizeLeft(), txSize, endpoint.rxSizeLeft(), rxSize, tx.cq, rx.cq,
            tx.paused || rx.paused ? ", paused" : ""));
        sends.stream().filter(each -> !each.ended && each.mustFailWith != FabricErrno.EAGAIN)
            .forEach(each -> text.append("  ").append(each).append('\n'));
        receives.stream().filter(each -> !each.ended)
            .forEach(each -> text.append("  ").append(each).append('\n'));
        return text.toString();
    }
}
