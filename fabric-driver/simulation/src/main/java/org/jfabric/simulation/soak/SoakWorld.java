package org.jfabric.simulation.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jfabric.Fabric;
import org.jfabric.RecvContext;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * Some clients whose endpoints all reach each other, and one thread that does random operations with them. It works in
 * windows: random operations, then a {@link Barrier} that accounts for everything that was posted, then a
 * {@link MatchingCheck} of each endpoint.
 */
public final class SoakWorld implements AutoCloseable {
    /** Added to the index of an endpoint, for contexts that no operation has. */
    static final long ENDPOINT_CONTEXT = 1L << 60;
    /** Marks messages and receives of the barrier; no tag or mask of a random operation has it. */
    static final long BARRIER_TAG = 1L << 63;
    /** Tagged receives may end without an entry only if their tag has this bit and their mask does not. */
    static final long SILENT_TAG = 1L << 62;
    static final int MOST_ENDPOINTS = 4;
    /** Most untagged messages under way to an endpoint with multi-receive buffers, so that none waits for slots. */
    private static final int MOST_ON_THE_WAY = 60;

    final long seed;
    final Random random;
    final SoakDrivers drivers;
    final SoakHistory history = new SoakHistory();
    final List<SoakClient> clients = new ArrayList<>();
    final List<SoakEndpoint> endpoints = new ArrayList<>();
    final Long2ObjectHashMap<SoakMessage> sends = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<SoakReceive> receives = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<SoakAccess> accessesById = new Long2ObjectHashMap<>();
    final long[] tags;
    /** Endpoints access each other's memory. */
    final boolean accesses;
    /** Domains that one driver of mode INVOKER embeds have the same threading. */
    final boolean locks;
    /** Untagged receives may end without an entry; then untagged messages begin with their id. */
    final boolean untaggedSilent;
    long nextId = 1;
    long step;
    /** Operations that were accepted. */
    public long operations;
    /** Operations that were refused. */
    public long refused;
    /** Peeks that found a message. */
    public long found;
    /** Accesses to memory that have ended. */
    public long accessed;
    /** Messages in multi-receive buffers, but the first one of each buffer. */
    public long packed;
    /** Messages delivered in slabs. */
    public long inSlabs;
    /** Those of them that stayed in a ring. */
    public long lent;
    public long windows;
    public long entriesHash;
    final MultiReceiveCheck multiReceives = new MultiReceiveCheck(this);
    private Window window;

    public SoakWorld(long seed, Function<Random, SoakDrivers> opener) {
        this.seed = seed;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.drivers = opener.apply(random);
        tags = new long[1 + random.nextInt(5)];
        long base = random.nextLong() & ~(BARRIER_TAG | SILENT_TAG | 7);
        for (int i = 0; i < tags.length; i++) {
            tags[i] = base | random.nextInt(8) | (random.nextInt(4) == 0 ? SILENT_TAG : 0);
        }
        untaggedSilent = random.nextBoolean();
        locks = random.nextInt(3) == 0;
        accesses = random.nextBoolean();
        try {
            open();
        } catch (RuntimeException | Error e) {
            drivers.close();
            throw e;
        }
    }

    private void open() {
        int count = 2 + random.nextInt(MOST_ENDPOINTS - 1);
        for (int i = 0; i < Math.min(count, 3); i++) {
            Fabric fabric = drivers.open(i % drivers.count());
            clients.add(new SoakClient(this, fabric, random));
        }
        for (int i = 0; i < count; i++) {
            endpoints.add(clients.get(i % clients.size()).open(i, random));
        }
        for (SoakEndpoint endpoint : endpoints) {
            connect(endpoint);
        }
    }

    /** Inserts all endpoints into an endpoint's address vector, in an order that differs between clients. */
    private void connect(SoakEndpoint endpoint) {
        SoakEndpoint sibling = endpoints.stream()
            .filter(each -> each != endpoint && each.client == endpoint.client && each.addresses != null)
            .findFirst().orElse(null);
        if (sibling != null) {
            endpoint.addresses = sibling.addresses;
            return;
        }
        endpoint.addresses = new long[endpoints.size()];
        int first = random.nextInt(endpoints.size());
        for (int i = 0; i < endpoints.size(); i++) {
            int index = (first + i) % endpoints.size();
            endpoint.addresses[index] = endpoint.client.vector.insert(endpoints.get(index).endpoint.name());
        }
    }

    /** Closes an endpoint and opens another one in its place, under another address. */
    void replace(SoakEndpoint old) {
        for (SoakClient client : clients) {
            long[] known = addressesOf(client);
            client.vector.remove(known[old.index]);
        }
        old.client.close(old);
        SoakEndpoint fresh = old.client.open(old.index, random);
        endpoints.set(old.index, fresh);
        for (SoakClient client : clients) {
            long[] known = client == old.client ? old.addresses : addressesOf(client);
            known[old.index] = client.vector.insert(fresh.endpoint.name());
        }
        fresh.addresses = old.addresses;
        history.add("replaced e" + old.index);
    }

    private long[] addressesOf(SoakClient client) {
        return endpoints.stream().filter(each -> each.client == client && each.addresses != null).findFirst()
            .orElseThrow().addresses;
    }

    /** Runs windows until that many operations were accepted. */
    public void run(long limit) {
        try {
            while (operations < limit) {
                runWindow();
            }
            checkMemory();
            checkErrors();
        } catch (AssertionError | RuntimeException e) {
            throw failure(e);
        }
    }

    /** Does random operations, then ends and checks them. */
    private void runWindow() {
        window = new Window(this);
        for (SoakEndpoint endpoint : endpoints) {
            endpoint.tx.paused = random.nextInt(5) == 0;
            endpoint.rx.paused = random.nextInt(5) == 0;
            endpoint.usesMultiReceive = endpoint.client.usesMultiReceive && random.nextInt(3) != 0;
        }
        int steps = random.nextInt(8) == 0 ? random.nextInt(8) : random.nextInt(240);
        for (int i = 0; i < steps; i++) {
            step++;
            window.kind(i * Window.PHASES / steps).run(this, window);
            drivers.onStep();
        }
        new Barrier(this).run();
        for (SoakEndpoint endpoint : endpoints) {
            if (endpoint.buffered == null) {
                new MatchingCheck(this, endpoint).run();
            }
        }
        forget();
        windows++;
        if (random.nextInt(64) == 0) {
            checkMemory();
        }
        if (random.nextInt(200) == 0) {
            replace(anyEndpoint());
        }
    }

    private void forget() {
        for (SoakEndpoint endpoint : endpoints) {
            endpoint.sends.clear();
            endpoint.receives.clear();
            endpoint.peeks.clear();
            endpoint.claimEnds.clear();
            endpoint.cancels.clear();
            endpoint.inbound.clear();
            endpoint.accesses.clear();
            endpoint.openSends = 0;
            if (endpoint.buffered != null) {
                endpoint.buffered.reset();
            }
        }
        sends.clear();
        receives.clear();
        accessesById.clear();
    }

    /** Without injected faults the error logs must be empty. */
    void checkErrors() {
        List<String> errors = drivers.errors();
        check(errors.isEmpty(), () -> "the drivers' error logs have " + errors);
    }

    void checkMemory() {
        for (SoakEndpoint endpoint : endpoints) {
            int overwritten = endpoint.memory.firstOverwritten();
            check(overwritten < 0, () -> "memory of e" + endpoint.index + " was overwritten at offset " + overwritten);
        }
    }

    SoakEndpoint anyEndpoint() {
        return endpoints.get(random.nextInt(endpoints.size()));
    }

    /** Posts a message; false if it was refused. */
    boolean post(SoakMessage message, int offset, long destination) {
        SoakEndpoint from = endpoints.get(message.from);
        if (!message.tagged && neverWaitsForSlots() && hasManyUntagged(endpoints.get(message.to))) {
            return false;
        }
        message.postedStep = step;
        long left = drivers.isInvoker ? from.endpoint.txSizeLeft() : 0;
        // with an embedded engine it may end before the call returns
        sends.put(message.id, message);
        int result = from.post(message, offset, destination);
        if (result != 0) {
            sends.remove(message.id);
            refused(result, left, message);
            return false;
        }
        from.sends.add(message);
        from.openSends++;
        if (message.mustFailWith == 0) {
            endpoints.get(message.to).inbound.add(message);
        }
        accepted(message);
        return true;
    }

    /**
     * Messages for multi-receive buffers never wait for completion queue slots. While one waits, a peek may find it
     * although an older buffer accepts it.
     */
    boolean neverWaitsForSlots() {
        return drivers.driverShare == SoakDrivers.LARGE_SHARE;
    }

    /** One more untagged message might have to wait for slots. */
    private static boolean hasManyUntagged(SoakEndpoint to) {
        return to.usesMultiReceive && to.inbound.stream().filter(each -> !each.tagged).count() >= MOST_ON_THE_WAY;
    }

    /** Posts a receive; false if it was refused. */
    boolean post(SoakReceive receive, long buf, long source) {
        SoakEndpoint at = endpoints.get(receive.at);
        long left = drivers.isInvoker ? at.endpoint.rxSizeLeft() : 0;
        receives.put(receive.context, receive);
        int result = at.post(receive, buf, source);
        if (result != 0) {
            receives.remove(receive.context);
            refused(result, left, receive);
            return false;
        }
        if (receive.claim != null) {
            receive.claim.claimEnded = true;
            at.claimEnds.add(receive);
        } else if (receive.peekFlags == Flags.PEEK) {
            receive.position = at.receives.size();
            at.peeks.add(receive);
        } else {
            at.receives.add(receive);
        }
        accepted(receive);
        return true;
    }

    private void refused(int result, long left, Object operation) {
        refused++;
        check(result == -FabricErrno.EAGAIN, () -> operation + " answered " + FabricErrno.name(result));
        check(left == 0, () -> operation + " was refused with room for " + left);
    }

    void accepted(Object operation) {
        operations++;
        history.add(operation);
    }

    /** A call that posts an operation. */
    interface Call {
        int post();
    }

    /** Posts an access; false if it was refused. */
    boolean post(SoakAccess access, Call call) {
        SoakEndpoint from = endpoints.get(access.from);
        long left = drivers.isInvoker ? from.endpoint.txSizeLeft() : 0;
        // with an embedded engine it may end before the call returns
        accessesById.put(access.id, access);
        from.accesses.add(access);
        from.openSends++;
        int result = call.post();
        if (result != 0) {
            accessesById.remove(access.id);
            from.accesses.removeLast();
            from.openSends--;
            refused(result, left, access);
            return false;
        }
        accepted(access);
        return true;
    }

    void onEntry(SoakQueue queue, SoakEntry entry) {
        entriesHash = entriesHash * 31 + entry.stableHash();
        if (entry.context() < 0) {
            onBufferedEntry(queue, entry);
        } else if ((entry.flags() & (Flags.REMOTE_READ | Flags.REMOTE_WRITE)) != 0) {
            onTargetEntry(queue, entry);
        } else if ((entry.flags() & (Flags.RMA | Flags.ATOMIC)) != 0) {
            onAccessEntry(queue, entry);
        } else if ((entry.flags() & Flags.SEND) != 0) {
            onSendEntry(queue, entry);
        } else {
            onReceiveEntry(queue, entry);
        }
    }

    /** An entry of a message in a slab, which only these contexts have. */
    private void onBufferedEntry(SoakQueue queue, SoakEntry entry) {
        RecvContext shown = queue.cq.recvContext(entry.context());
        check(shown != null, () -> "no message in a slab belongs to " + entry);
        SoakEndpoint at = queue.receivers.stream().filter(each -> each.endpoint == shown.endpoint()).findFirst()
            .orElseThrow(() -> new AssertionError(entry + " is not in the queue of " + shown.endpoint()));
        at.buffered.onMessage(entry, shown);
    }

    /** An entry at the target of an access. */
    private void onTargetEntry(SoakQueue queue, SoakEntry entry) {
        check(entry.errno() == 0 && entry.context() == 0, () -> "unexpected report of an access: " + entry);
        boolean hasData = (entry.flags() & Flags.REMOTE_CQ_DATA) != 0;
        SoakAccess access = hasData ? accessesById.get(entry.data()) : null;
        SoakEndpoint at = access != null ? endpoints.get(access.to)
            : queue.receivers.stream().filter(each -> each.client.reports).findFirst().orElse(null);
        check(at != null && at.rx == queue && (access != null) == hasData, () -> "no access belongs to " + entry);
        long kind = entry.flags() & ~Flags.REMOTE_CQ_DATA;
        if (hasData) {
            access.reports++;
            check(access.reports == 1, () -> access + " has a second report: " + entry);
            check(kind == (Flags.RMA | Flags.REMOTE_WRITE) && entry.length() == access.length
                && entry.source() == at.addresses[access.from], () -> access + " has the report " + entry);
        } else if ((kind & Flags.REMOTE_READ) != 0) {
            at.client.reportedReads++;
        } else {
            at.client.reportedWrites++;
        }
    }

    private void onAccessEntry(SoakQueue queue, SoakEntry entry) {
        if (entry.context() >= ENDPOINT_CONTEXT) {
            SoakEndpoint from = endpoints.get((int) (entry.context() - ENDPOINT_CONTEXT));
            check(from.tx == queue && entry.errno() == FabricErrno.EKEYREJECTED
                && from.accesses.stream().anyMatch(each -> each.slot == null && each.memory.closed),
                () -> "unexpected error of an inject: " + entry);
            from.openSends--;
            return;
        }
        SoakAccess access = accessesById.get(entry.context());
        check(access != null, () -> "no access belongs to " + entry);
        SoakEndpoint from = endpoints.get(access.from);
        check(from.tx == queue, () -> access + " has an entry in a foreign queue: " + entry);
        check(!access.ended, () -> access + " has a second entry: " + entry);
        check(access.wantsEntry || entry.errno() != 0, () -> access + " should have no entry: " + entry);
        check(entry.equals(new SoakEntry(access.id, access.entryFlags, 0, 0, 0, -1L, entry.errno(), 0, 0)),
            () -> access + " has the entry " + entry);
        // the key is checked before the range, so closing the region changes the error
        boolean mayBe = entry.errno() == access.mustFailWith
            || access.memory.closed && entry.errno() == FabricErrno.EKEYREJECTED;
        check(mayBe, () -> access + " has an unexpected error: " + entry);
        from.openSends--;
        end(access, entry.errno());
    }

    /** Ends an access and checks the bytes that it has fetched. */
    void end(SoakAccess access, int errno) {
        SoakEndpoint from = endpoints.get(access.from);
        access.ended = true;
        access.errno = errno;
        accessed++;
        if (errno == 0 && access.isSum()) {
            access.old = from.memory.region().buffer().getLong(AccessKind.broughtTo(access));
        }
        if (access.slot != null) {
            int brought = AccessKind.broughtTo(access);
            int differs = errno != 0 || access.expected == null ? -1
                : from.memory.mismatch(brought, access.expected);
            check(differs < 0, () -> "byte " + differs + " differs from the model: " + access);
            from.memory.restore(access.slot.offset(), access.slot.length());
            from.memory.free(access.slot);
            access.slot = null;
        }
    }

    private void onSendEntry(SoakQueue queue, SoakEntry entry) {
        SoakMessage message = sends.get(entry.context());
        check(message != null, () -> "no send belongs to " + entry);
        SoakEndpoint from = endpoints.get(message.from);
        check(from.tx == queue, () -> message + " has an entry in a foreign queue: " + entry);
        check(!message.ended, () -> message + " has a second entry: " + entry);
        check(message.wantsEntry || entry.errno() != 0, () -> message + " should have no entry: " + entry);
        message.ended = true;
        message.errno = entry.errno();
        from.openSends--;
        check(entry.equals(new SoakEntry(message.id, Flags.SEND | message.kind(), 0, 0, 0, -1L, entry.errno(), 0, 0)),
            () -> message + " has the entry " + entry);
        if (message.mustFailWith != 0 || entry.errno() != 0) {
            int expected = message.mustFailWith != 0 ? message.mustFailWith
                : message.cancelRequested ? FabricErrno.ECANCELED : 0;
            check(entry.errno() == expected, () -> message + " has an unexpected error: " + entry);
        } else {
            onLevelReached(message);
        }
        release(from, message);
    }

    void release(SoakEndpoint from, SoakMessage message) {
        if (message.slot != null) {
            // overwrites the payload: nothing may read it any more
            from.memory.restore(message.slot.offset(), message.slot.length());
            from.memory.free(message.slot);
            message.slot = null;
        }
    }

    /** The entry of a send says that the message, and all before a fence, have reached its completion level. */
    private void onLevelReached(SoakMessage message) {
        if (provesArrival(message, message)) {
            message.arrivedBefore = Math.min(message.arrivedBefore, step + 1);
        }
        boolean wasRead = message.isMatchComplete() && readReceiver(message);
        if (message.isFenced()) {
            for (SoakMessage earlier : endpoints.get(message.from).sends) {
                if (earlier.id >= message.id) {
                    break;
                }
                if (earlier.to != message.to || earlier.mustFailWith != 0) {
                    continue;
                }
                check(earlier.ended || !earlier.wantsEntry,
                    () -> earlier + " has not ended before the fenced " + message);
                if (provesArrival(message, earlier)) {
                    earlier.arrivedBefore = Math.min(earlier.arrivedBefore, step + 1);
                }
                if (wasRead) {
                    assertMatched(earlier, message);
                }
            }
        }
        if (wasRead) {
            assertMatched(message, message);
        }
    }

    /** A message that waits for slots of a buffer counts as delivered, but messages of other senders may pass it. */
    private boolean provesArrival(SoakMessage proof, SoakMessage message) {
        return proof.isDeliveryComplete() && (proof.isMatchComplete() || !mayGoToBuffer(message));
    }

    private boolean mayGoToBuffer(SoakMessage message) {
        return !message.tagged && endpoints.get(message.to).usesMultiReceive;
    }

    /** Reads the queue of the receiver; false if that is not possible now. */
    private boolean readReceiver(SoakMessage message) {
        SoakQueue queue = endpoints.get(message.to).rx;
        if (queue.paused || random.nextBoolean() || !queue.mayRead()) {
            return false;
        }
        queue.readAll();
        return true;
    }

    private void assertMatched(SoakMessage message, SoakMessage proof) {
        boolean isIdentified = message.hasData && !mayLackReceiveEntry(message)
            && !mayGoToBuffer(message);
        check(!isIdentified || message.errno != 0 || message.receivedBy != null,
            () -> message + " has no receive with an entry, but " + proof + " has ended");
    }

    boolean mayLackReceiveEntry(SoakMessage message) {
        SoakEndpoint to = endpoints.get(message.to);
        return to.buffered != null || to.selectiveReceives
            && (message.tagged ? (message.tag & SILENT_TAG) != 0 : untaggedSilent);
    }

    private void onReceiveEntry(SoakQueue queue, SoakEntry entry) {
        for (SoakEndpoint each : queue.receivers) {
            if (each.buffered != null && each.buffered.onClaimed(entry)) {
                return;
            }
        }
        SoakReceive receive = receives.get(entry.context());
        check(receive != null, () -> "no receive belongs to " + entry);
        SoakEndpoint at = endpoints.get(receive.at);
        check(at.rx == queue, () -> receive + " has an entry in a foreign queue: " + entry);
        check(!receive.ended, () -> receive + " has a second entry: " + entry);
        if (receive.isBuffer) {
            multiReceives.onEntry(at, receive, entry);
            return;
        }
        check(receive.wantsEntry || entry.errno() != 0, () -> receive + " should have no entry: " + entry);
        receive.ended = true;
        receive.entry = entry;
        receive.endedStep = step;
        if (receive.isPeek()) {
            onPeeked(receive, entry);
            return;
        }
        boolean mayBe = receive.mustFailWith != 0 ? entry.errno() == receive.mustFailWith
            : entry.errno() == 0 || entry.errno() == FabricErrno.ETRUNC
            || receive.cancelRequested && entry.errno() == FabricErrno.ECANCELED;
        check(mayBe, () -> "unexpected error: " + receive);
        if (!receive.hasMessage()) {
            check(entry.length() == 0, () -> "an entry with bytes but no message: " + receive);
            release(at, receive, 0);
            return;
        }
        int placed = (int) entry.length();
        check(placed <= receive.length, () -> "longer than its buffer: " + receive);
        long id = (entry.flags() & Flags.REMOTE_CQ_DATA) != 0 ? entry.data()
            : placed >= Long.BYTES ? at.memory.idAt(receive.offset + receive.rotation) : 0;
        if (id != 0) {
            assignMessage(receive, id);
            verify(at, receive, placed);
        }
    }

    /** For the model a discard is a receive; an unsuccessful peek is not part of the model. */
    private void onPeeked(SoakReceive peek, SoakEntry entry) {
        if (entry.errno() != 0) {
            boolean mayBe = peek.claim != null ? entry.errno() == FabricErrno.ETRUNC
                : entry.errno() == FabricErrno.ENOMSG
                || entry.errno() == FabricErrno.ENOSPC && (peek.peekFlags & Flags.CLAIM) != 0;
            check(mayBe, () -> "unexpected error: " + peek);
            peek.mustFailWith = peek.claim != null ? 0 : entry.errno();
        } else if (peek.claim == null) {
            found++;
        }
        boolean takes = peek.mustFailWith == 0 && peek.claim == null && peek.peekFlags != Flags.PEEK;
        if (takes && (entry.flags() & Flags.REMOTE_CQ_DATA) != 0) {
            assignMessage(peek, entry.data());
        }
    }

    void assignMessage(SoakReceive receive, long id) {
        receive.message = markReceived(receive, id);
    }

    /** Notes that a receive or buffer has matched the message with this id, and returns it. */
    SoakMessage markReceived(SoakReceive receive, long id) {
        SoakMessage message = sends.get(id);
        check(message != null && message.to == receive.at, () -> "no message " + id + " was sent to " + receive);
        check(message.receivedBy == null, () -> message + " is received a second time by " + receive);
        check(!message.isDropped(), () -> message + " has failed, but is received by " + receive);
        message.receivedBy = receive;
        message.arrivedBefore = Math.min(message.arrivedBefore, step + 1);
        return message;
    }

    /** Checks the memory of a receive whose message is known, and frees its slot. */
    void verify(SoakEndpoint at, SoakReceive receive, int placed) {
        if (receive.rotation != 0) {
            int outside = at.memory.unrotate(receive.offset, receive.length, receive.rotation, placed);
            check(outside < 0, () -> "byte " + (outside - receive.offset)
                + " behind the message was overwritten: " + receive);
        }
        int differs = placed == 0 ? -1 : at.memory.firstDifference(receive.offset, placed, receive.message.id);
        check(differs < 0, () -> "byte " + differs + " of " + placed + " differs: " + receive);
        release(at, receive, placed);
    }

    private void release(SoakEndpoint at, SoakReceive receive, int placed) {
        if (receive.slot == null) {
            return;
        }
        int overwritten = at.memory.firstOverwritten(receive.slot, receive.offset, placed);
        check(overwritten < 0, () -> "byte " + (overwritten - receive.offset)
            + " outside of the message was overwritten: " + receive);
        at.memory.restore(receive.offset, placed);
        at.memory.free(receive.slot);
        receive.slot = null;
    }

    int readAll() {
        int count = 0;
        for (SoakEndpoint endpoint : endpoints) {
            count += endpoint.tx.readAll();
            if (endpoint.rx != endpoint.tx) {
                count += endpoint.rx.readAll();
            }
        }
        return count;
    }

    /** Reads all queues until a condition holds. */
    void await(String what, BooleanSupplier condition) {
        long deadline = drivers.nanoTime() + drivers.patienceNs();
        while (true) {
            int read = readAll();
            step++;
            if (condition.getAsBoolean()) {
                return;
            }
            if (read == 0) {
                drivers.pump();
            }
            check(drivers.nanoTime() - deadline < 0, () -> "timed out waiting for " + what);
        }
    }

    void check(boolean holds, Supplier<String> what) {
        if (!holds) {
            throw new AssertionError(what.get());
        }
    }

    private AssertionError failure(Throwable cause) {
        StringBuilder text = new StringBuilder(cause.toString()).append("\nsoak over ")
            .append(drivers.link).append(", seed ")
            .append(seed).append(", window ").append(windows).append(", step ").append(step).append(", operations ")
            .append(operations).append("\nreplay: ").append(drivers.replay(seed))
            .append("\nlast operations:\n").append(history).append("drivers:\n").append(drivers.state());
        endpoints.forEach(endpoint -> text.append(endpoint.state()));
        clients.forEach(client -> text.append(client.counts()).append('\n'));
        return drivers.failure(text.toString(), cause);
    }

    @Override
    public void close() {
        drivers.close();
    }
}
