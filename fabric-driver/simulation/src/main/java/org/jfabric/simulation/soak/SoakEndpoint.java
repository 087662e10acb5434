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

/** An endpoint, and its operations since the last barrier. */
final class SoakEndpoint {
    final SoakClient client;
    final int index;
    final Endpoint endpoint;
    final SoakMemory memory;
    final SoakQueue tx;
    final SoakQueue rx;
    boolean selectiveSends;
    boolean selectiveReceives;
    /** The default operation flags. */
    long sendDefault = Flags.TRANSMIT_COMPLETE;
    long receiveDefault;
    /** Whether multi-receive buffers may be posted before the next barrier. */
    boolean usesMultiReceive;
    /** MIN_MULTI_RECV of buffers that are posted from now on. */
    long minFree = 64;
    /** Null without buffered receives. */
    BufferedReceiveCheck buffered;
    long txSize;
    long rxSize;
    /** Addresses of all endpoints in this one's address vector; different at each client, so that mix-ups are found. */
    long[] addresses;
    /** In posting order. */
    final List<SoakMessage> sends = new ArrayList<>();
    final List<SoakReceive> receives = new ArrayList<>();
    /** Peeks without discard or claim, in posting order. */
    final List<SoakReceive> peeks = new ArrayList<>();
    /** Calls that receive or discard claimed messages. */
    final List<SoakReceive> claimEnds = new ArrayList<>();
    /** Receives that were cancelled, successfully or not, in the order of the calls. */
    final List<SoakReceive> cancels = new ArrayList<>();
    /** Messages that were sent to it, in posting order. */
    final List<SoakMessage> inbound = new ArrayList<>();
    /** Accesses by this endpoint, in posting order. */
    final List<SoakAccess> accesses = new ArrayList<>();
    /** Memory for remote access; null in a world without accesses. */
    AccessedMemory accessed;
    /** Sends and accesses that are not known to have ended. */
    int openSends;
    private final SendClaim claim = new SendClaim();
    private final RotatedPieces pieces = new RotatedPieces();

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

    /** Closes the memory for remote access, also while it is accessed, and allocates other memory. */
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

    /** The index of the endpoint with an address; -1 if there is none. */
    int indexOf(long address) {
        for (int i = 0; i < addresses.length; i++) {
            if (addresses[i] == address) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Whether a send may be posted without the risk of a deadlock: where sends and receives share the slots of a
     * completion queue, some are left for receives, because a send may wait for a receive of its peer.
     */
    boolean maySend() {
        return mayPost(6);
    }

    /** Like {@link #maySend}, with a number of slots left for each endpoint that receives. */
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

    /** Calls the API for a send; returns what the call returned. */
    int post(SoakMessage message, int offset, long destination) {
        long context = message.id;
        int length = message.length;
        long buf = memory.at(offset);
        return switch (message.call) {
            case "tsend" -> endpoint.tsend(buf, length, destination, message.tag, context);
            case "tsenddata" -> endpoint.messages().tsenddata(
                buf, length, message.id, destination, message.tag, context);
            case "tsendmsg" -> endpoint.messages().tsendmsg(
                buf, length, message.id, destination, message.tag, context, message.flags);
            case "send" -> endpoint.send(buf, length, destination, context);
            case "senddata" -> endpoint.messages().senddata(buf, length, message.id, destination, context);
            case "sendmsg" -> endpoint.messages().sendmsg(buf, length, message.id, destination, context, message.flags);
            case "tinject" -> endpoint.tinject(
                memory.region().buffer(), offset, length, destination, message.tag);
            case "inject" -> endpoint.inject(memory.region().buffer(), offset, length, destination);
            case "tclaim" -> claimAndCommit(message, offset, destination);
            case "tsendv" -> endpoint.messages().tsendv(pieces(message, offset), destination, message.tag, context);
            case "tsendmsg(iov)" -> endpoint.messages().tsendmsg(
                pieces(message, offset), message.id, destination, message.tag, context, message.flags);
            case "sendv" -> endpoint.messages().sendv(pieces(message, offset), destination, context);
            case "sendmsg(iov)" -> endpoint.messages().sendmsg(
                pieces(message, offset), message.id, destination, context, message.flags);
            default -> throw new AssertionError(message.call);
        };
    }

    private IoVec pieces(SoakMessage message, int offset) {
        return pieces.of(memory.at(offset), message.length, message.rotation);
    }

    /** Encodes the payload in place. A commit is never refused, and no other send is accepted before it. */
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
            throw new AssertionError("a call returned " + FabricErrno.name(answer) + " instead of "
                + FabricErrno.name(expected));
        }
    }

    /** Claims and aborts; false if there is no room. */
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

    /** Calls the API for a receive; returns what the call returned. */
    int post(SoakReceive receive, long buf, long source) {
        return switch (receive.call) {
            case "trecv" -> endpoint.trecv(
                buf, receive.length, source, receive.tag, receive.ignore, receive.context);
            case "trecvmsg" -> endpoint.messages().trecvmsg(buf, receive.length, source, receive.tag, receive.ignore,
                receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "trecvv" -> endpoint.messages().trecvv(
                pieces(receive, buf), source, receive.tag, receive.ignore, receive.context);
            case "trecvmsg(iov)" -> endpoint.messages().trecvmsg(
                pieces(receive, buf), source, receive.tag, receive.ignore,
                receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "recvv" -> endpoint.messages().recvv(pieces(receive, buf), source, receive.context);
            case "recvmsg(iov)" -> endpoint.messages().recvmsg(
                pieces(receive, buf), source, receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            case "tpeek" -> endpoint.messages().trecvmsg(
                buf, receive.length, source, receive.tag, receive.ignore, receive.context, receive.peekFlags);
            case "peek" -> endpoint.messages().recvmsg(buf, receive.length, source, receive.context, receive.peekFlags);
            case "recvmsg(multi)" -> endpoint.messages().recvmsg(buf, receive.length, source, receive.context,
                Flags.MULTI_RECV | (receive.wantsEntry ? Flags.COMPLETION : 0));
            case "recv" -> endpoint.recv(buf, receive.length, source, receive.context);
            case "recvmsg" -> endpoint.messages().recvmsg(
                buf, receive.length, source, receive.context, receive.wantsEntry ? Flags.COMPLETION : 0);
            default -> throw new AssertionError(receive.call);
        };
    }

    /** Whether untagged receives without flags are multi-receive buffers. */
    boolean postsBuffersByDefault() {
        return (receiveDefault & Flags.MULTI_RECV) != 0;
    }

    private IoVec pieces(SoakReceive receive, long buf) {
        return pieces.of(buf, receive.length, receive.rotation);
    }

    /** The source of a receive as an address. */
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
        Stream.of(receives, peeks, claimEnds).flatMap(List::stream).filter(each -> !each.ended)
            .forEach(each -> text.append("  ").append(each).append('\n'));
        if (buffered != null) {
            buffered.unended().forEach(each -> text.append("  ").append(each).append('\n'));
        }
        return text.toString();
    }
}
