package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jfabric.RecvContext;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.layout.SlabDescriptor;

/**
 * Checks the messages that an endpoint with buffered receives gets in its slab, keeps some of them, and releases,
 * claims or discards these. Each message begins with its id. The entry does not name the matched receive, so for tagged
 * messages it is only checked that there is a distinct receive for each.
 */
final class BufferedReceiveCheck {
    /** A message that stays in its cell until it is released, claimed or discarded. */
    private record Kept(RecvContext context, long id, SoakMessage message) {
    }

    /** A call that claims a message, or discards it if the slot is null. */
    private record Claim(SoakMessage message, SoakMemory.Slot slot, int offset, int length) {
    }

    final int limit;
    final int least;
    /** Successful and failed receives since the last barrier, as counters count them. */
    long counted;
    long countedFailed;
    private final SoakWorld world;
    private final SoakEndpoint at;
    private final List<Kept> kept = new ArrayList<>();
    private final Map<Long, Claim> claims = new HashMap<>();
    private final List<SoakMessage> taggedMessages = new ArrayList<>();
    private final Map<Integer, Long> lastUntagged = new HashMap<>();

    BufferedReceiveCheck(SoakWorld world, SoakEndpoint at, int limit, int least) {
        this.world = world;
        this.at = at;
        this.limit = limit;
        this.least = least;
    }

    /** Posts a receive, of which only tag and source matter, not the buffer; null if it was refused. */
    SoakReceive postTag(long tag, long ignore, int source) {
        SoakReceive receive = new SoakReceive();
        receive.at = at.index;
        receive.call = world.random.nextBoolean() ? "trecv" : "trecvmsg";
        receive.tagged = true;
        receive.tag = tag;
        receive.ignore = ignore;
        receive.source = at.client.directed ? source : Receive.ANY_SOURCE;
        receive.length = world.random.nextInt(100);
        receive.context = world.nextId++;
        return world.post(receive, world.random.nextLong(), at.sourceOf(receive)) ? receive : null;
    }

    /** An entry delivers a message in a cell of the slab. */
    void onMessage(SoakEntry entry, RecvContext shown) {
        boolean whole = shown.isWhole();
        long length = whole ? entry.length() : Math.min(entry.length(), least);
        world.check(shown.id() == entry.context() && shown.buffer().capacity() == length && length >= Long.BYTES,
            () -> shown + " has " + shown.buffer().capacity() + " bytes: " + entry);
        SoakReceive receive = new SoakReceive();
        receive.call = "buffered";
        receive.at = at.index;
        receive.context = entry.context();
        SoakMessage message = world.markReceived(receive, SoakMemory.idOf(shown.buffer().getLong(0)));
        long more = message.length > limit ? Flags.MORE : 0;
        SoakEntry expected = new SoakEntry(entry.context(),
            Flags.RECV | message.kind() | (message.hasData ? Flags.REMOTE_CQ_DATA : 0) | more, message.length,
            message.data(), message.tag, at.addresses[message.from], 0, 0, entry.buf());
        world.check(entry.equals(expected), () -> message + " has the entry " + entry + ", not " + expected);
        long place = shown.buffer().addressOffset();
        kept.forEach(each -> world.check(
            each.context.buffer().addressOffset() != place, () -> entry + " is in the cell of " + each));
        verify(new Kept(shown, entry.context(), message));
        counted++;
        world.inSlabs++;
        // this cell number, which no slab here reaches, marks a message that stays in the ring
        world.lent += SlabDescriptor.cell(entry.context()) == SlabDescriptor.MAX_CELLS - 1 ? 1 : 0;
        if (message.tagged) {
            onTagged(message);
        } else {
            Long last = lastUntagged.put(message.from, message.id);
            world.check(last == null || last < message.id, () -> message + " is delivered after #" + last);
        }
        int dice = world.random.nextInt(3);
        boolean keeps = !whole || dice == 0 || !at.rx.lends && dice == 1;
        boolean givesBack = !keeps && (!at.rx.lends || dice == 1);
        if (keeps || givesBack && shown.release() != 0) {
            int result = shown.retain();
            // a message in the ring is copied to a cell, of which none may be free
            world.check(result == 0 || result == -FabricErrno.EAGAIN && whole,
                () -> "retain() of " + message + " answered " + FabricErrno.name(result));
            if (result == 0) {
                kept.add(new Kept(shown, shown.id(), message));
            }
        }
    }

    private void onTagged(SoakMessage message) {
        if ((message.tag & SoakWorld.BARRIER_TAG) == 0) {
            taggedMessages.add(message);
            return;
        }
        SoakReceive receive = at.receives.stream()
            .filter(each -> each.tag == message.tag && !each.ended).findFirst().orElse(null);
        world.check(receive != null, () -> message + " is delivered without a receive");
        receive.ended = true;
    }

    private void verify(Kept one) {
        long address = one.context.buffer().addressOffset();
        int length = one.context.buffer().capacity();
        int differs = SoakMemory.firstDifference(address, length, one.message.id);
        world.check(one.context.id() == one.id && differs < 0,
            () -> "byte " + differs + " of " + length + " differs in " + one);
    }

    /** Releases, claims or discards one of the kept messages; false if there is none or the call was refused. */
    boolean endOne() {
        if (kept.isEmpty()) {
            return false;
        }
        Random random = world.random;
        Kept one = kept.get(random.nextInt(kept.size()));
        verify(one);
        boolean done;
        if (one.message.length <= limit && random.nextBoolean()) {
            int result = one.context.release();
            world.check(result == 0 || result == -FabricErrno.EAGAIN,
                () -> "release() of " + one + " answered " + FabricErrno.name(result));
            done = result == 0;
        } else {
            done = random.nextInt(3) == 0 ? discard(one) : claim(one);
        }
        if (done) {
            kept.remove(one);
            world.check(!one.context.isOpen(), () -> "still open after its end: " + one);
            world.accepted("end of buffered " + one.message);
        }
        return done;
    }

    private boolean discard(Kept one) {
        long flags = Flags.DISCARD | (world.random.nextBoolean() ? Flags.CLAIM : 0);
        return end(one, new Claim(one.message, null, 0, 0), 0, flags);
    }

    private boolean claim(Kept one) {
        int length = world.random.nextInt(5) == 0 ? world.random.nextInt(one.message.length + 1)
            : Math.min(one.message.length + world.random.nextInt(100), SoakMemory.ROOM[2]);
        SoakMemory.Slot slot = at.memory.acquire(false, length);
        if (slot == null) {
            return false;
        }
        int offset = slot.begin(world.random.nextInt(8));
        if (end(one, new Claim(one.message, slot, offset, length), at.memory.at(offset),
            Flags.CLAIM | Flags.COMPLETION)) {
            return true;
        }
        at.memory.free(slot);
        return false;
    }

    private boolean end(Kept one, Claim claim, long buf, long flags) {
        boolean tagged = one.message.tagged;
        if (world.random.nextInt(8) == 0) {
            int wrong = call(!tagged, buf, claim.length, one.id, flags);
            world.check(wrong == -FabricErrno.EINVAL, () -> "a call of the wrong kind answered " + wrong);
        }
        long context = world.nextId++;
        one.context.context(context);
        int result = call(tagged, buf, claim.length, one.id, flags);
        world.check(result == 0 || result == -FabricErrno.EAGAIN,
            () -> "a claim or discard of " + one + " answered " + FabricErrno.name(result));
        if (result == 0) {
            claims.put(context, claim);
        }
        return result == 0;
    }

    private int call(boolean tagged, long buf, int length, long id, long flags) {
        return tagged ? at.endpoint.messages().trecvmsg(buf, length, FabricAddress.ADDR_UNSPEC, 0, 0, id, flags)
            : at.endpoint.messages().recvmsg(buf, length, FabricAddress.ADDR_UNSPEC, id, flags);
    }

    /** Checks the entry of a claim or discard; false if it is of neither. */
    boolean onClaimed(SoakEntry entry) {
        Claim claim = claims.remove(entry.context());
        if (claim == null) {
            return false;
        }
        SoakMessage message = claim.message;
        boolean discards = claim.slot == null;
        int placed = discards ? message.length : Math.min(message.length, claim.length);
        SoakEntry expected = new SoakEntry(entry.context(),
            Flags.RECV | message.kind() | (message.hasData ? Flags.REMOTE_CQ_DATA : 0) | (discards ? 0 : Flags.CLAIM),
            placed, message.data(), message.tag, at.addresses[message.from],
            placed < message.length ? FabricErrno.ETRUNC : 0, message.length - placed, 0);
        world.check(entry.equals(expected), () -> claim + " has the entry " + entry + ", not " + expected);
        if (discards) {
            return true;
        }
        counted += entry.errno() == 0 ? 1 : 0;
        countedFailed += entry.errno() == 0 ? 0 : 1;
        int differs = at.memory.firstDifference(claim.offset, placed, message.id);
        world.check(placed == 0 || differs < 0, () -> "byte " + differs + " of " + placed + " differs: " + claim);
        int overwritten = at.memory.firstOverwritten(claim.slot, claim.offset, placed);
        world.check(
            overwritten < 0, () -> "byte " + (overwritten - claim.offset) + " outside was overwritten: " + claim);
        at.memory.restore(claim.offset, placed);
        at.memory.free(claim.slot);
        return true;
    }

    /** Ends all kept messages; false while some have not ended. */
    boolean endAll() {
        for (int i = kept.size(); i > 0; i--) {
            endOne();
        }
        return kept.isEmpty() && claims.isEmpty();
    }

    /** Checks that each tagged message has a distinct receive, and each receive that was not cancelled a message. */
    void account() {
        List<SoakReceive> taken = at.receives.stream().filter(each -> !each.ended).toList();
        world.check(taken.size() == taggedMessages.size(), () -> taggedMessages.size()
            + " tagged messages were delivered at e" + at.index + ", and " + taken.size() + " receives matched: "
            + taggedMessages + " and " + taken);
        int[] messageOf = new int[taken.size()];
        Arrays.fill(messageOf, -1);
        for (int i = 0; i < taggedMessages.size(); i++) {
            SoakMessage message = taggedMessages.get(i);
            world.check(findsReceive(i, taken, messageOf, new HashSet<>()),
                () -> "no receive of e" + at.index + " is left for " + message + " among " + taken);
        }
        taken.forEach(each -> each.ended = true);
    }

    /** Assigns a receive to a message, reassigning earlier messages if needed (augmenting paths). */
    private boolean findsReceive(int message, List<SoakReceive> taken, int[] messageOf, Set<Integer> tried) {
        for (int i = 0; i < taken.size(); i++) {
            if (taken.get(i).accepts(taggedMessages.get(message)) && tried.add(i)
                && (messageOf[i] < 0 || findsReceive(messageOf[i], taken, messageOf, tried))) {
                messageOf[i] = message;
                return true;
            }
        }
        return false;
    }

    void reset() {
        taggedMessages.clear();
        lastUntagged.clear();
        counted = 0;
        countedFailed = 0;
    }

    /** Messages that have not been released, and claims without an entry. */
    List<Object> unended() {
        List<Object> open = new ArrayList<>(kept);
        open.addAll(claims.values());
        return Collections.unmodifiableList(open);
    }
}
