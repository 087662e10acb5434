package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.Endpoint;
import org.jfabric.IoVec;
import org.jfabric.SendClaim;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

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
    /** Multi-receive buffers may be posted before the next barrier. */
    boolean packs;
    /** Room that buffers posted from now on must have left. */
    long minFree = 64;
    /** Null without buffered receives. */
    BufferedSide buffered;
    long txSize;
    long rxSize;
    /** The others in this endpoint's address vector; the same numbers at all of them would hide mistakes. */
    long[] addresses;
    /** In posting order. */
    final List<SoakMessage> sends = new ArrayList<>();
    final List<SoakReceive> receives = new ArrayList<>();
    /** Looks that leave the message where it is, in posting order. */
    final List<SoakReceive> looks = new ArrayList<>();
    /** Calls for what was reserved. */
    final List<SoakReceive> settlements = new ArrayList<>();
    /** Receives whose cancellation was asked for, in the order of the calls. */
    final List<SoakReceive> cancels = new ArrayList<>();
    /** Messages that others have posted to it, in the order of the calls. */
    final List<SoakMessage> inbound = new ArrayList<>();
    /** Accesses to the memory of others, in posting order. */
    final List<SoakAccess> accesses = new ArrayList<>();
    /** Memory that others access; null in a world without accesses. */
    AccessedMemory accessed;
    /** Sends and accesses that are not known to have ended. */
    int openSends;
    private final SendClaim claim = new SendClaim();
    private final TurnedPieces pieces = new TurnedPieces();

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

    /** Closes the memory that others access, whatever they do, and has other memory from now on. */
    void replaceAccessed() {
        if (accessed != null) {
            accessed.close();
        }
        accessed = client.allocateAccessed();
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

    /** Whether a read of some memory is not known to have ended. */
    boolean hasOpenRead(AccessedMemory memory) {
        return accesses.stream().anyMatch(each -> each.memory == memory && each.reads() && !each.ended);
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
                buf, length, message.id, destination, message.tag, context, message.flags);
            case "send" -> endpoint.send(buf, length, destination, context);
            case "senddata" -> endpoint.senddata(buf, length, message.id, destination, context);
            case "sendmsg" -> endpoint.sendmsg(buf, length, message.id, destination, context, message.flags);
            case "tinject" -> endpoint.tinject(
                memory.region().buffer(), offset, length, destination, message.tag);
            case "inject" -> endpoint.inject(memory.region().buffer(), offset, length, destination);
            case "tclaim" -> claimAndCommit(message, offset, destination);
            case "tsendv" -> endpoint.tsendv(pieces(message, offset), destination, message.tag, context);
            case "tsendmsg(iov)" -> endpoint.tsendmsg(
                pieces(message, offset), message.id, destination, message.tag, context, message.flags);
            case "sendv" -> endpoint.sendv(pieces(message, offset), destination, context);
            case "sendmsg(iov)" -> endpoint.sendmsg(
                pieces(message, offset), message.id, destination, context, message.flags);
            default -> throw new AssertionError(message.call);
        };
    }

    private IoVec pieces(SoakMessage message, int offset) {
        return pieces.of(memory.at(offset), message.length, message.turned);
    }

    /** Encodes the payload in place. What was claimed is never refused at the commit, and nothing passes it. */
    private int claimAndCommit(SoakMessage message, int offset, long destination) {
        int spare = message.length % 7;
        int result = endpoint.tryClaim(Math.min(message.length + spare, endpoint.injectSize()), claim);
        if (result != 0) {
            return result;
        }
        claim.buffer().putBytes(0, memory.region().buffer(), offset, message.length);
        require(-FabricErrno.EBUSY,
            endpoint.tsend(memory.at(offset), message.length, destination, message.tag, 0));
        require(0, claim.commit(message.length, message.id, destination, message.tag, message.id, message.flags));
        return 0;
    }

    private static void require(int expected, int answer) {
        if (answer != expected) {
            throw new AssertionError("a call answered " + FabricErrno.name(answer) + " instead of "
                + FabricErrno.name(expected));
        }
    }

    /** Claims and gives back; false if there is no room. */
    boolean claimAndAbort(int length) {
        int result = endpoint.tryClaim(length, claim);
        if (result == -FabricErrno.EAGAIN) {
            return false;
        }
        require(0, result);
        claim.buffer().setMemory(0, length, (byte) 0xEE);
        claim.abort();
        return true;
    }

    /** Submits a receive; 0 or what the call answered. */
    int post(SoakReceive receive, long buf, long source) {
        return switch (receive.call) {
            case "trecv" -> endpoint.trecv(
                buf, receive.length, source, receive.tag, receive.ignore, receive.context);
            case "trecvmsg" -> endpoint.trecvmsg(buf, receive.length, source, receive.tag, receive.ignore,
                receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "trecvv" -> endpoint.trecvv(
                pieces(receive, buf), source, receive.tag, receive.ignore, receive.context);
            case "trecvmsg(iov)" -> endpoint.trecvmsg(pieces(receive, buf), source, receive.tag, receive.ignore,
                receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "recvv" -> endpoint.recvv(pieces(receive, buf), source, receive.context);
            case "recvmsg(iov)" -> endpoint.recvmsg(
                pieces(receive, buf), source, receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "tlook" -> endpoint.trecvmsg(
                buf, receive.length, source, receive.tag, receive.ignore, receive.context, receive.look);
            case "look" -> endpoint.recvmsg(buf, receive.length, source, receive.context, receive.look);
            case "recvmsg(multi)" -> endpoint.recvmsg(buf, receive.length, source, receive.context,
                Flags.MULTI_RECV | (receive.wantsEntry ? Flags.COMPLETION : 0));
            case "recv" -> endpoint.recv(buf, receive.length, source, receive.context);
            case "recvmsg" -> endpoint.recvmsg(
                buf, receive.length, source, receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            default -> throw new AssertionError(receive.call);
        };
    }

    /** An untagged receive without flags of its own is a multi-receive buffer. */
    boolean packsByDefault() {
        return (receiveDefault & Flags.MULTI_RECV) != 0;
    }

    private IoVec pieces(SoakReceive receive, long buf) {
        return pieces.of(buf, receive.length, receive.turned);
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
        accesses.stream().filter(each -> !each.ended).forEach(each -> text.append("  ").append(each).append('\n'));
        Stream.of(receives, looks, settlements).flatMap(List::stream).filter(each -> !each.ended)
            .forEach(each -> text.append("  ").append(each).append('\n'));
        if (buffered != null) {
            buffered.open().forEach(each -> text.append("  ").append(each).append('\n'));
        }
        return text.toString();
    }
}
