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
 * What an endpoint with buffered receives was shown in its slab, what it keeps of that, and what it claims. Every
 * message says who it is by its first bytes. Which receive a tagged message took nobody is told, so the account is
 * whether there is a receive for each.
 */
final class BufferedSide {
    /** A message that stays in its cell until it is given back, claimed or discarded. */
    private record Held(RecvContext shown, long id, SoakMessage message) {
    }

    /** A call that ends a message; its slot is null for a discard. */
    private record Claim(SoakMessage message, SoakMemory.Slot slot, int offset, int length) {
    }

    final int limit;
    final int least;
    /** Entries that count as received, and those that failed, since the last barrier. */
    long counted;
    long countedFailed;
    private final SoakWorld world;
    private final SoakEndpoint at;
    private final List<Held> held = new ArrayList<>();
    private final Map<Long, Claim> claims = new HashMap<>();
    private final List<SoakMessage> taggedShown = new ArrayList<>();
    private final Map<Integer, Long> lastUntagged = new HashMap<>();

    BufferedSide(SoakWorld world, SoakEndpoint at, int limit, int least) {
        this.world = world;
        this.at = at;
        this.limit = limit;
        this.least = least;
    }

    /** Posts a receive that only says which tag is wanted: its buffer is not looked at. Null if that was refused. */
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

    /** An entry hands a cell out. */
    void onShown(SoakEntry entry, RecvContext shown) {
        boolean whole = shown.isWhole();
        long length = whole ? entry.length() : Math.min(entry.length(), least);
        world.check(shown.id() == entry.context() && shown.buffer().capacity() == length && length >= Long.BYTES,
            () -> shown + " has " + shown.buffer().capacity() + " bytes: " + entry);
        SoakReceive receive = new SoakReceive();
        receive.call = "shown";
        receive.at = at.index;
        receive.context = entry.context();
        SoakMessage message = world.taken(receive, SoakMemory.idOf(shown.buffer().getLong(0)));
        long more = message.length > limit ? Flags.MORE : 0;
        SoakEntry expected = new SoakEntry(entry.context(),
            Flags.RECV | message.kind() | (message.hasData ? Flags.REMOTE_CQ_DATA : 0) | more, message.length,
            message.data(), message.tag, at.addresses[message.from], 0, 0, entry.buf());
        world.check(entry.equals(expected), () -> message + " is shown by " + entry + ", not " + expected);
        long place = shown.buffer().addressOffset();
        held.forEach(each -> world.check(
            each.shown.buffer().addressOffset() != place, () -> entry + " is where " + each + " is"));
        verify(new Held(shown, entry.context(), message));
        counted++;
        world.shown++;
        // no slab of this test has so many cells
        world.lent += SlabDescriptor.cell(entry.context()) == SlabDescriptor.MAX_CELLS - 1 ? 1 : 0;
        if (message.tagged) {
            onTagged(message);
        } else {
            Long last = lastUntagged.put(message.from, message.id);
            world.check(last == null || last < message.id, () -> message + " is shown behind #" + last);
        }
        int dice = world.random.nextInt(3);
        boolean keeps = !whole || dice == 0 || !at.rx.holds && dice == 1;
        boolean givesBack = !keeps && (!at.rx.holds || dice == 1);
        if (keeps || givesBack && shown.release() != 0) {
            int result = shown.retain();
            // what lies in a ring needs a cell
            world.check(result == 0 || result == -FabricErrno.EAGAIN && whole,
                () -> "to keep " + message + " was answered " + FabricErrno.name(result));
            if (result == 0) {
                held.add(new Held(shown, shown.id(), message));
            }
        }
    }

    private void onTagged(SoakMessage message) {
        if ((message.tag & SoakWorld.BARRIER_TAG) == 0) {
            taggedShown.add(message);
            return;
        }
        SoakReceive receive = at.receives.stream()
            .filter(each -> each.tag == message.tag && !each.ended).findFirst().orElse(null);
        world.check(receive != null, () -> message + " is shown without a receive");
        receive.ended = true;
    }

    private void verify(Held shown) {
        long address = shown.shown.buffer().addressOffset();
        int length = shown.shown.buffer().capacity();
        int differs = SoakMemory.differs(address, length, shown.message.id);
        world.check(shown.shown.id() == shown.id && differs < 0,
            () -> "byte " + differs + " of the " + length + " differs that are in " + shown);
    }

    /** Ends one of the messages that are kept, or tries to; false if nothing came of it. */
    boolean use() {
        if (held.isEmpty()) {
            return false;
        }
        Random random = world.random;
        Held one = held.get(random.nextInt(held.size()));
        verify(one);
        boolean done;
        if (one.message.length <= limit && random.nextBoolean()) {
            int result = one.shown.release();
            world.check(result == 0 || result == -FabricErrno.EAGAIN,
                () -> "giving back of " + one + " was answered " + FabricErrno.name(result));
            done = result == 0;
        } else {
            done = random.nextInt(3) == 0 ? discard(one) : claim(one);
        }
        if (done) {
            held.remove(one);
            world.check(!one.shown.isOpen(), () -> "still open: " + one);
            world.accepted("end of " + one.message + " as it was shown");
        }
        return done;
    }

    private boolean discard(Held one) {
        long flags = Flags.DISCARD | (world.random.nextBoolean() ? Flags.CLAIM : 0);
        return end(one, new Claim(one.message, null, 0, 0), 0, flags);
    }

    private boolean claim(Held one) {
        int length = world.random.nextInt(5) == 0 ? world.random.nextInt(one.message.length + 1)
            : Math.min(one.message.length + world.random.nextInt(100), SoakMemory.ROOM[2]);
        SoakMemory.Slot slot = at.memory.take(false, length);
        if (slot == null) {
            return false;
        }
        int offset = slot.begin(world.random.nextInt(8));
        if (end(one, new Claim(one.message, slot, offset, length), at.memory.at(offset),
            Flags.CLAIM | Flags.COMPLETION)) {
            return true;
        }
        at.memory.give(slot);
        return false;
    }

    private boolean end(Held one, Claim claim, long buf, long flags) {
        boolean tagged = one.message.tagged;
        if (world.random.nextInt(8) == 0) {
            int wrong = call(!tagged, buf, claim.length, one.id, flags);
            world.check(wrong == -FabricErrno.EINVAL, () -> "the other kind of call was answered " + wrong);
        }
        long context = world.nextId++;
        one.shown.context(context);
        int result = call(tagged, buf, claim.length, one.id, flags);
        world.check(result == 0 || result == -FabricErrno.EAGAIN,
            () -> "the end of " + one + " was answered " + FabricErrno.name(result));
        if (result == 0) {
            claims.put(context, claim);
        }
        return result == 0;
    }

    private int call(boolean tagged, long buf, int length, long id, long flags) {
        return tagged ? at.endpoint.trecvmsg(buf, length, FabricAddress.ADDR_UNSPEC, 0, 0, id, flags)
            : at.endpoint.recvmsg(buf, length, FabricAddress.ADDR_UNSPEC, id, flags);
    }

    /** An entry with a context of this endpoint; false if it is not of a claim or discard. */
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
        world.check(entry.equals(expected), () -> claim + " has " + entry + ", not " + expected);
        if (discards) {
            return true;
        }
        counted += entry.errno() == 0 ? 1 : 0;
        countedFailed += entry.errno() == 0 ? 0 : 1;
        int differs = at.memory.differs(claim.offset, placed, message.id);
        world.check(placed == 0 || differs < 0, () -> "byte " + differs + " of " + placed + " differs: " + claim);
        int disturbed = at.memory.disturbed(claim.slot, claim.offset, placed);
        world.check(disturbed < 0, () -> "byte " + (disturbed - claim.offset) + " outside was written: " + claim);
        at.memory.restore(claim.offset, placed);
        at.memory.give(claim.slot);
        return true;
    }

    /** Ends all that is kept; false if that is not done yet. */
    boolean settle() {
        for (int i = held.size(); i > 0; i--) {
            use();
        }
        return held.isEmpty() && claims.isEmpty();
    }

    /** Receives that no cancel has ended are those whose messages were shown, one for one. */
    void account() {
        List<SoakReceive> taken = at.receives.stream().filter(each -> !each.ended).toList();
        world.check(taken.size() == taggedShown.size(), () -> taggedShown.size()
            + " tagged messages were shown at e" + at.index + ", " + taken.size() + " receives took one: "
            + taggedShown + " and " + taken);
        int[] messageOf = new int[taken.size()];
        Arrays.fill(messageOf, -1);
        for (int i = 0; i < taggedShown.size(); i++) {
            SoakMessage message = taggedShown.get(i);
            world.check(finds(i, taken, messageOf, new HashSet<>()),
                () -> "no receive of e" + at.index + " was left for " + message + " among " + taken);
        }
        taken.forEach(each -> each.ended = true);
    }

    /** A receive for a message, where others may have to take another one. */
    private boolean finds(int message, List<SoakReceive> taken, int[] messageOf, Set<Integer> tried) {
        for (int i = 0; i < taken.size(); i++) {
            if (taken.get(i).accepts(taggedShown.get(message)) && tried.add(i)
                && (messageOf[i] < 0 || finds(messageOf[i], taken, messageOf, tried))) {
                messageOf[i] = message;
                return true;
            }
        }
        return false;
    }

    void forget() {
        taggedShown.clear();
        lastUntagged.clear();
        counted = 0;
        countedFailed = 0;
    }

    /** What is neither given back nor ended. */
    List<Object> open() {
        List<Object> open = new ArrayList<>(held);
        open.addAll(claims.values());
        return Collections.unmodifiableList(open);
    }
}
