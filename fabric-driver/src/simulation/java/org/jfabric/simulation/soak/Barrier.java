package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * Brings a world to rest, by nothing but messages and cancels: a last message on each way tells that all in front of it
 * have arrived, receives that accept everything take those that wait, and every receive that is left is cancelled. Then
 * each operation has the entries that it may have and no more, and all room and credit is back.
 */
final class Barrier {
    private static final int LAST_LENGTH = 16;
    /** Rounds in which messages may wait for each other before receives of everything are posted. */
    private static final int PATIENT_ROUNDS = 8;

    private final SoakWorld world;
    private final List<Way> ways = new ArrayList<>();
    private final List<Drain> drains = new ArrayList<>();
    private int rounds;

    Barrier(SoakWorld world) {
        this.world = world;
    }

    void run() {
        for (SoakEndpoint to : world.endpoints) {
            to.tx.paused = false;
            to.rx.paused = false;
            drains.add(new Drain(to));
            for (SoakEndpoint from : world.endpoints) {
                if (to.inbound.stream().anyMatch(message -> message.from == from.index)
                    || world.drivers.isOfLibfabric()
                    && from.accesses.stream().anyMatch(access -> access.to == to.index)) {
                    ways.add(new Way(from, to));
                }
            }
        }
        world.await("the last message of each way", this::haveArrived);
        world.await("what the messages that are left go to", this::haveDrained);
        world.await("the room of operations that have ended", this::haveRoom);
        // there is room in front of an operation's entry
        world.clients.forEach(SoakClient::awaitStep);
        world.readAll();
        int more = world.readAll();
        world.check(more == 0, () -> more + " entries came although all credit is back");
        world.endpoints.forEach(this::account);
        world.endpoints.forEach(this::checkAccessed);
        world.clients.forEach(this::countReports);
        world.endpoints.forEach(endpoint -> endpoint.client.count(endpoint));
        world.await("the counts of what has ended", this::haveCounted);
    }

    private boolean haveArrived() {
        boolean all = true;
        rounds++;
        for (Way way : ways) {
            all &= way.hasArrived();
        }
        drains.forEach(Drain::settle);
        return all;
    }

    private boolean haveDrained() {
        boolean all = true;
        for (Drain drain : drains) {
            all &= drain.isEmpty();
        }
        return all;
    }

    private boolean haveRoom() {
        for (SoakEndpoint endpoint : world.endpoints) {
            if (endpoint.endpoint.txSizeLeft() != endpoint.txSize
                || endpoint.endpoint.rxSizeLeft() != endpoint.rxSize) {
                return false;
            }
        }
        return true;
    }

    private boolean haveCounted() {
        return world.clients.stream().allMatch(SoakClient::isCounted);
    }

    private void account(SoakEndpoint endpoint) {
        for (SoakMessage message : endpoint.sends) {
            boolean silent = !message.wantsEntry && message.mustFailWith == 0;
            world.check(message.ended || silent, () -> message + " has no entry");
            world.release(endpoint, message);
        }
        accountForAccesses(endpoint);
        if (endpoint.buffered != null) {
            endpoint.buffered.account();
            return;
        }
        for (SoakReceive receive : endpoint.receives) {
            if (receive.ended) {
                continue;
            }
            world.check(!receive.isLook() && !receive.isBuffer, () -> receive + " has no entry");
            world.check(!receive.wantsEntry && receive.mustFailWith == 0, () -> receive + " has no entry");
            long id = endpoint.memory.idAt(receive.offset + receive.turned);
            world.check(id != 0, () -> receive + " has neither an entry nor a message");
            receive.ended = true;
            world.take(receive, id);
            world.check(receive.message.length <= receive.length, () -> receive + " has no entry of its truncation");
            world.verify(endpoint, receive, receive.message.length);
        }
    }

    /** All accesses have ended: those without an entry have succeeded, and the memory is as the model has it. */
    private void accountForAccesses(SoakEndpoint endpoint) {
        for (SoakAccess access : endpoint.accesses) {
            if (!access.ended) {
                world.check(!access.wantsEntry && access.mustFailWith == 0, () -> access + " has no entry");
                // an inject to memory that was closed has an entry that does not name it
                world.end(access, 0);
            }
            boolean mayBeRefused = access.memory.closed && !access.wantsEntry;
            int reports = access.hasData && access.errno == 0 ? 1 : 0;
            world.check(access.reports == reports || mayBeRefused && access.reports == 0,
                () -> access + " has " + access.reports + " reports");
            access.memory.onEnded(access);
        }
    }

    private void checkAccessed(SoakEndpoint endpoint) {
        if (endpoint.accessed != null) {
            int differs = endpoint.accessed.differs();
            world.check(differs < 0, () -> "byte " + differs + " of the memory of e" + endpoint.index
                + " is not as the model has it: " + endpoint.accessed);
        }
    }

    /** Entries without data at the client whose memory is accessed, if it has one for each access. */
    private void countReports(SoakClient client) {
        long[] least = new long[2];
        long[] most = new long[2];
        for (SoakEndpoint endpoint : world.endpoints) {
            for (SoakAccess access : endpoint.accesses) {
                if (world.endpoints.get(access.to).client == client && client.reports && !access.hasData
                    && access.errno == 0) {
                    int kind = access.reads() ? 0 : 1;
                    most[kind]++;
                    least[kind] += access.memory.closed && !access.wantsEntry ? 0 : 1;
                }
            }
        }
        long[] reported = {client.reportedReads, client.reportedWrites};
        for (int kind = 0; kind < 2; kind++) {
            int index = kind;
            world.check(reported[kind] >= least[kind] && reported[kind] <= most[kind], () -> reported[index]
                + (index == 0 ? " reads" : " writes") + " were reported instead of " + most[index]);
        }
        client.reportedReads = 0;
        client.reportedWrites = 0;
    }

    /** From one endpoint to another: its last message before the barrier, with a receive of its own. */
    private final class Way {
        final SoakEndpoint from;
        final SoakEndpoint to;
        final long tag;
        SoakReceive receive;
        boolean sent;

        Way(SoakEndpoint from, SoakEndpoint to) {
            this.from = from;
            this.to = to;
            this.tag = SoakWorld.BARRIER_TAG | from.index;
        }

        boolean hasArrived() {
            if (receive != null && receive.ended) {
                return true;
            }
            drainOf(to).take(this);
            if (!sent) {
                sent = send();
            }
            if (!sent && from.tx == from.rx && rounds > PATIENT_ROUNDS) {
                // receives may have taken all slots of the queue that is for both
                drainOf(from).makeRoom();
            }
            if (rounds > PATIENT_ROUNDS) {
                // what keeps the last message back may wait for receives
                drainOf(to).keepOpen();
            }
            return false;
        }

        private boolean send() {
            SoakMessage message = new SoakMessage();
            message.slot = from.memory.take(true, LAST_LENGTH);
            if (message.slot == null || !from.mayPost(3)) {
                if (message.slot != null) {
                    from.memory.give(message.slot);
                }
                return false;
            }
            SoakMemory.Slot slot = message.slot;
            message.id = world.nextId++;
            message.call = "tsendmsg";
            message.from = from.index;
            message.to = to.index;
            message.tagged = true;
            message.tag = tag;
            message.length = LAST_LENGTH;
            message.flags = Flags.COMPLETION;
            message.wantsEntry = true;
            from.memory.fill(slot.begin(0), LAST_LENGTH, message.id);
            if (world.post(message, slot.begin(0), from.addresses[to.index])) {
                return true;
            }
            from.memory.restore(slot.begin(0), LAST_LENGTH);
            from.memory.give(slot);
            return false;
        }
    }

    private Drain drainOf(SoakEndpoint endpoint) {
        return drains.get(endpoint.index);
    }

    /** Posts a receive of the barrier; null if it was refused. */
    private SoakReceive receive(SoakEndpoint at, long tag, long ignore, int length) {
        if (at.buffered != null) {
            SoakReceive receive = at.buffered.postTag(tag, ignore, Receive.ANY_SOURCE);
            if (receive != null) {
                receive.ofBarrier = true;
            }
            return receive;
        }
        SoakReceive receive = new SoakReceive();
        receive.at = at.index;
        receive.call = tag == 0 && ignore == 0 ? "recvmsg" : "trecvmsg";
        receive.tagged = receive.call.charAt(0) == 't';
        receive.tag = tag;
        receive.ignore = ignore;
        receive.source = Receive.ANY_SOURCE;
        receive.length = length;
        receive.wantsEntry = true;
        receive.ofBarrier = true;
        return ReceiveKind.post(world, receive, 0, FabricAddress.ADDR_UNSPEC) ? receive : null;
    }

    /** Empties one endpoint of messages, then of receives. */
    private final class Drain {
        private final SoakEndpoint endpoint;
        private boolean cancels;
        private SoakReceive marker;
        private Way active;
        private boolean done;
        /** Of an endpoint with buffered receives. */
        private long most;
        private long wildcards;

        Drain(SoakEndpoint endpoint) {
            this.endpoint = endpoint;
        }

        /** One way after the other has its receive posted: an endpoint may have room for three, two of them below. */
        void take(Way way) {
            if (active == null || active.receive.ended) {
                way.receive = receive(endpoint, way.tag, 0, LAST_LENGTH);
                active = way.receive == null ? null : way;
                if (active == null) {
                    makeRoom();
                }
            }
        }

        /** Keeps a receive of each kind posted that takes everything. */
        void keepOpen() {
            if (endpoint.buffered != null) {
                openTags();
                return;
            }
            open(true, 1);
            open(false, 1);
        }

        boolean isEmpty() {
            if (done) {
                return true;
            }
            if (endpoint.buffered != null) {
                done = hasShownAll();
                return done;
            }
            settle();
            if (!cancels) {
                // some of those that are left may have gone to receives without entries: perhaps fewer would do
                boolean some = open(true, Math.min(left(true), Math.max(1, endpoint.endpoint.rxSizeLeft() / 2)));
                cancels = open(false, left(false)) && some;
            }
            if (marker == null && (!cancels || !cancelAll())) {
                return false;
            }
            boolean waits = Stream.of(endpoint.receives, endpoint.looks, endpoint.settlements)
                .flatMap(List::stream).anyMatch(each -> each.mustEnd() && !each.ended);
            if (waits || !settle()) {
                return false;
            }
            // every receive that is open now has taken a message without an entry
            boolean more = false;
            for (boolean tagged : new boolean[] {true, false}) {
                long silent = endpoint.receives.stream().filter(each -> each.tagged == tagged && !each.ended).count();
                long left = left(tagged);
                world.check(left >= silent, () -> silent + " receives of e" + endpoint.index
                    + " have no entry although only " + left + " messages are left, tagged " + tagged);
                more |= left > silent;
            }
            marker = null;
            cancels = false;
            done = !more;
            return done;
        }

        /** Drops what is reserved, or fetches it: it may keep others back. False if not all could be asked for. */
        private boolean settle() {
            boolean all = endpoint.buffered == null || endpoint.buffered.settle();
            for (SoakReceive receive : List.copyOf(endpoint.receives)) {
                all &= !receive.hasClaim() || receive.settled || LookKind.settle(world, receive);
            }
            if (!all) {
                makeRoom();
            }
            return all;
        }

        /** Nobody is told which receives are open, so there are as many more as messages were to be shown at first. */
        private void openTags() {
            most = Math.max(most, left(true));
            while (wildcards < most && left(true) > 0) {
                if (endpoint.endpoint.rxSizeLeft() <= 2
                    || receive(endpoint, 0, ~SoakWorld.BARRIER_TAG, 0) == null) {
                    makeRoom();
                    return;
                }
                wildcards++;
            }
        }

        /** And all of it is given back, and no receive is open any more. */
        private boolean hasShownAll() {
            if (left(true) + left(false) > 0) {
                settle();
                openTags();
                return false;
            }
            return settle() && (marker != null || cancelAll()) && marker.ended;
        }

        /** Messages that no entry tells of. */
        private long left(boolean tagged) {
            if (endpoint.buffered != null) {
                return endpoint.inbound.stream()
                    .filter(each -> each.tagged == tagged && !each.isDropped() && each.receivedBy == null).count();
            }
            long sent = endpoint.inbound.stream().filter(each -> each.tagged == tagged && !each.isDropped()).count();
            return sent - endpoint.receives.stream()
                .filter(each -> each.tagged == tagged).mapToLong(SoakReceive::taken).sum();
        }

        /** Posts receives of everything until that many are open, or no more room is; false if none is open. */
        private boolean open(boolean tagged, long count) {
            long open = endpoint.receives.stream()
                .filter(each -> each.tagged == tagged && !each.ended && !each.cancelRequested
                    && takesAll(each)).count();
            for (; open < count; open++) {
                int length = world.random.nextInt(4) == 0 ? SoakMemory.ROOM[1] : world.random.nextInt(200);
                if (receive(endpoint, 0, tagged ? ~SoakWorld.BARRIER_TAG : 0, length) == null) {
                    if (open == 0) {
                        makeRoom();
                    }
                    return open != 0;
                }
            }
            return true;
        }

        /** And is known to be open: one without an entry may have ended. */
        private boolean takesAll(SoakReceive receive) {
            return receive.wantsEntry && !receive.isLook() && !receive.isBuffer && receive.source == Receive.ANY_SOURCE
                && (!receive.tagged || receive.ignore == ~SoakWorld.BARRIER_TAG);
        }

        /** Gives up the oldest receives that are not the barrier's own, of all that share the room. */
        private void makeRoom() {
            for (SoakEndpoint other : endpoint.rx.receivers) {
                other.receives.stream()
                    .filter(each -> !each.ended && !each.cancelRequested && !each.ofBarrier && !each.isLook())
                    .findFirst()
                    .ifPresent(each -> CancelKind.cancel(world, other, each));
            }
        }

        /** Asks for the end of all, last of all of one that nobody sends to; false if not all requests were taken. */
        private boolean cancelAll() {
            for (SoakReceive receive : List.copyOf(endpoint.receives)) {
                if (!receive.ended && !receive.isLook() && !CancelKind.cancel(world, endpoint, receive)) {
                    return false;
                }
            }
            SoakReceive last = receive(endpoint, SoakWorld.BARRIER_TAG | 1 << 20, 0, 0);
            // if its cancel is refused, the next round asks for it with those of the others, and for another one's
            if (last == null || !CancelKind.cancel(world, endpoint, last)) {
                return false;
            }
            marker = last;
            return true;
        }
    }
}
