package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jfabric.simulation.model.Receive;
import org.jfabric.info.FabricAddress;
import org.jfabric.info.Flags;

/**
 * Ends all operations of a world, using only messages and cancels: the last message of each sender to each receiver
 * shows that all earlier ones have arrived, wildcard receives take the messages that wait, and the remaining receives
 * are cancelled. Then each operation must have exactly its entries, and all room and credit must have come back.
 */
final class Barrier {
    private static final int LAST_LENGTH = 16;
    /** Rounds before wildcard receives are posted for messages that hold back the last ones. */
    private static final int PATIENT_ROUNDS = 8;

    private final SoakWorld world;
    private final List<LastMessage> lastMessages = new ArrayList<>();
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
                    lastMessages.add(new LastMessage(from, to));
                }
            }
        }
        world.await("the last message of each sender", this::haveArrived);
        world.await("the receives of the remaining messages", this::haveDrained);
        world.await("the room of operations that have ended", this::haveRoom);
        // room may come back before the entry of its operation
        world.clients.forEach(SoakClient::awaitStep);
        world.readAll();
        int more = world.readAll();
        world.check(more == 0, () -> more + " further entries after all credit had come back");
        world.endpoints.forEach(this::account);
        world.endpoints.forEach(this::checkAccessed);
        world.clients.forEach(this::countReports);
        world.endpoints.forEach(endpoint -> endpoint.client.count(endpoint));
        world.await("the counters of operations that have ended", this::haveCounted);
    }

    private boolean haveArrived() {
        boolean all = true;
        rounds++;
        for (LastMessage last : lastMessages) {
            all &= last.hasArrived();
        }
        drains.forEach(Drain::endClaims);
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
            world.check(!receive.isPeek() && !receive.isBuffer, () -> receive + " has no entry");
            world.check(!receive.wantsEntry && receive.mustFailWith == 0, () -> receive + " has no entry");
            long id = endpoint.memory.idAt(receive.offset + receive.rotation);
            world.check(id != 0, () -> receive + " has no entry and no message");
            receive.ended = true;
            world.assignMessage(receive, id);
            world.check(receive.message.length <= receive.length, () -> receive + " was truncated without an entry");
            world.verify(endpoint, receive, receive.message.length);
        }
    }

    /** All accesses have ended; those without an entry have succeeded. */
    private void accountForAccesses(SoakEndpoint endpoint) {
        for (SoakAccess access : endpoint.accesses) {
            if (!access.ended) {
                world.check(!access.wantsEntry && access.mustFailWith == 0, () -> access + " has no entry");
                // an inject that failed, because the memory was closed, has an entry with the endpoint's context
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
            int differs = endpoint.accessed.firstDifference();
            world.check(differs < 0, () -> "byte " + differs + " of the memory of e" + endpoint.index
                + " differs from the model: " + endpoint.accessed);
        }
    }

    /** Checks how many entries without data a client has read that has one for each access to its memory. */
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

    /** The last message from one endpoint to another before the barrier, and its receive. */
    private final class LastMessage {
        final SoakEndpoint from;
        final SoakEndpoint to;
        final long tag;
        SoakReceive receive;
        boolean sent;

        LastMessage(SoakEndpoint from, SoakEndpoint to) {
            this.from = from;
            this.to = to;
            this.tag = SoakWorld.BARRIER_TAG | from.index;
        }

        boolean hasArrived() {
            if (receive != null && receive.ended) {
                return true;
            }
            drainOf(to).postReceive(this);
            if (!sent) {
                sent = send();
            }
            if (!sent && from.tx == from.rx && rounds > PATIENT_ROUNDS) {
                // receives may use all slots of a queue that sends share
                drainOf(from).makeRoom();
            }
            if (rounds > PATIENT_ROUNDS) {
                // messages in front of the last one may wait for receives
                drainOf(to).keepWildcardsPosted();
            }
            return false;
        }

        private boolean send() {
            SoakMessage message = new SoakMessage();
            message.slot = from.memory.acquire(true, LAST_LENGTH);
            if (message.slot == null || !from.mayPost(3)) {
                if (message.slot != null) {
                    from.memory.free(message.slot);
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
            from.memory.free(slot);
            return false;
        }
    }

    private Drain drainOf(SoakEndpoint endpoint) {
        return drains.get(endpoint.index);
    }

    /** Posts a receive for the barrier; null if it was refused. */
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

    /** Receives all messages that wait at one endpoint, then cancels its receives. */
    private final class Drain {
        private final SoakEndpoint endpoint;
        private boolean cancels;
        private SoakReceive marker;
        private LastMessage active;
        private boolean done;
        /** Most wildcard receives that an endpoint with buffered receives needs. */
        private long most;
        private long wildcards;

        Drain(SoakEndpoint endpoint) {
            this.endpoint = endpoint;
        }

        /** Posts receives of last messages one by one: an endpoint may have room for three, two are for wildcards. */
        void postReceive(LastMessage last) {
            if (active == null || active.receive.ended) {
                last.receive = receive(endpoint, last.tag, 0, LAST_LENGTH);
                active = last.receive == null ? null : last;
                if (active == null) {
                    makeRoom();
                }
            }
        }

        /** Keeps one wildcard receive of each kind posted. */
        void keepWildcardsPosted() {
            if (endpoint.buffered != null) {
                postTagWildcards();
                return;
            }
            postWildcards(true, 1);
            postWildcards(false, 1);
        }

        boolean isEmpty() {
            if (done) {
                return true;
            }
            if (endpoint.buffered != null) {
                done = hasDeliveredAll();
                return done;
            }
            endClaims();
            if (!cancels) {
                // at most: some of these messages may be in receives without entries
                long half = Math.max(1, endpoint.endpoint.rxSizeLeft() / 2);
                boolean some = postWildcards(true, Math.min(unaccounted(true), half));
                cancels = postWildcards(false, unaccounted(false)) && some;
            }
            if (marker == null && (!cancels || !cancelAll())) {
                return false;
            }
            boolean waits = Stream.of(endpoint.receives, endpoint.peeks, endpoint.claimEnds)
                .flatMap(List::stream).anyMatch(each -> each.mustHaveEntry() && !each.ended);
            if (waits || !endClaims()) {
                return false;
            }
            // each receive that is still open has matched a message without an entry
            boolean more = false;
            for (boolean tagged : new boolean[] {true, false}) {
                long silent = endpoint.receives.stream().filter(each -> each.tagged == tagged && !each.ended).count();
                long left = unaccounted(tagged);
                world.check(left >= silent, () -> silent + " receives of e" + endpoint.index
                    + " have no entry, and only " + left + " messages were not accounted for, tagged " + tagged);
                more |= left > silent;
            }
            marker = null;
            cancels = false;
            done = !more;
            return done;
        }

        /** Receives or discards claimed messages, which may hold back others; false if a call was refused. */
        private boolean endClaims() {
            boolean all = endpoint.buffered == null || endpoint.buffered.endAll();
            for (SoakReceive receive : List.copyOf(endpoint.receives)) {
                all &= !receive.hasClaim() || receive.claimEnded || PeekKind.endClaim(world, receive);
            }
            if (!all) {
                makeRoom();
            }
            return all;
        }

        /** It is unknown which receives are open, so there is one wildcard for each message that was open at first. */
        private void postTagWildcards() {
            most = Math.max(most, unaccounted(true));
            while (wildcards < most && unaccounted(true) > 0) {
                if (endpoint.endpoint.rxSizeLeft() <= 2
                    || receive(endpoint, 0, ~SoakWorld.BARRIER_TAG, 0) == null) {
                    makeRoom();
                    return;
                }
                wildcards++;
            }
        }

        /** Whether all messages were delivered and released, and all receives have ended. */
        private boolean hasDeliveredAll() {
            if (unaccounted(true) + unaccounted(false) > 0) {
                endClaims();
                postTagWildcards();
                return false;
            }
            return endClaims() && (marker != null || cancelAll()) && marker.ended;
        }

        /** Messages that no entry accounts for. */
        private long unaccounted(boolean tagged) {
            if (endpoint.buffered != null) {
                return endpoint.inbound.stream()
                    .filter(each -> each.tagged == tagged && !each.isDropped() && each.receivedBy == null).count();
            }
            long sent = endpoint.inbound.stream().filter(each -> each.tagged == tagged && !each.isDropped()).count();
            return sent - endpoint.receives.stream()
                .filter(each -> each.tagged == tagged).mapToLong(SoakReceive::messageCount).sum();
        }

        /** Posts wildcard receives until that many are open or there is no room; false if none is open. */
        private boolean postWildcards(boolean tagged, long count) {
            long open = endpoint.receives.stream()
                .filter(each -> each.tagged == tagged && !each.ended && !each.cancelRequested
                    && isWildcard(each)).count();
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

        /** A wildcard receive that is known to be open; one without an entry may have ended. */
        private boolean isWildcard(SoakReceive receive) {
            return receive.wantsEntry && !receive.isPeek() && !receive.isBuffer && receive.source == Receive.ANY_SOURCE
                && (!receive.tagged || receive.ignore == ~SoakWorld.BARRIER_TAG);
        }

        /** Cancels the oldest receive that is not the barrier's own at each endpoint that shares the queue. */
        private void makeRoom() {
            for (SoakEndpoint other : endpoint.rx.receivers) {
                other.receives.stream()
                    .filter(each -> !each.ended && !each.cancelRequested && !each.ofBarrier && !each.isPeek())
                    .findFirst()
                    .ifPresent(each -> CancelKind.cancel(world, other, each));
            }
        }

        /** Cancels all open receives; the last one is a marker that no message matches. False if a call was refused. */
        private boolean cancelAll() {
            for (SoakReceive receive : List.copyOf(endpoint.receives)) {
                if (!receive.ended && !receive.isPeek() && !CancelKind.cancel(world, endpoint, receive)) {
                    return false;
                }
            }
            SoakReceive last = receive(endpoint, SoakWorld.BARRIER_TAG | 1 << 20, 0, 0);
            // if its cancel is refused, the next round cancels it with the others and posts another marker
            if (last == null || !CancelKind.cancel(world, endpoint, last)) {
                return false;
            }
            marker = last;
            return true;
        }
    }
}
