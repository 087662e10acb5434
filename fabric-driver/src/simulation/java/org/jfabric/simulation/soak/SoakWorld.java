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
 * Some clients with endpoints that all reach each other, and one thread that does with them what the seed says. It
 * works in windows: random operations, then a {@link Barrier} at which everything that was posted must be accounted
 * for, then the {@link Judge}.
 */
public final class SoakWorld implements AutoCloseable {
    /** Contexts of endpoints are apart from those of operations. */
    static final long ENDPOINT_CONTEXT = 1L << 60;
    /** No tag or mask of the random operations has it: marks what the barrier itself sends. */
    static final long BARRIER_TAG = 1L << 63;
    /** Only receives with this bit in their tag, and none of it ignored, may end without an entry. */
    static final long SILENT_TAG = 1L << 62;
    static final int MOST_ENDPOINTS = 4;
    /** Untagged messages that an endpoint can always have on the way into buffers. */
    private static final int MOST_ON_THE_WAY = 60;

    final long seed;
    final Random random;
    final SoakDrivers drivers;
    final History history = new History();
    final List<SoakClient> clients = new ArrayList<>();
    final List<SoakEndpoint> endpoints = new ArrayList<>();
    final Long2ObjectHashMap<SoakMessage> sends = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<SoakReceive> receives = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<SoakAccess> accessesById = new Long2ObjectHashMap<>();
    final long[] tags;
    /** Endpoints access each other's memory. */
    final boolean accesses;
    /** Domains that are embedded in one driver are all for one thread, or all for several. */
    final boolean locks;
    /** Untagged receives may end without an entry; untagged messages then carry their id. */
    final boolean untaggedSilent;
    long nextId = 1;
    long step;
    /** Operations that were accepted. */
    public long operations;
    /** Operations that were refused. */
    public long refused;
    /** Looks that found a message. */
    public long found;
    /** Accesses to memory that were checked. */
    public long accessed;
    /** Messages behind others in a multi-receive buffer. */
    public long packed;
    /** Messages in slabs. */
    public long shown;
    /** Of these, messages that were in a ring. */
    public long lent;
    public long windows;
    public long entriesHash;
    final Packing packing = new Packing(this);
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

    /** Inserts the others into an endpoint's vector, in any order. */
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

    /** Does random operations, and the barriers between them. */
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

    /** Does random operations, then the barrier behind them. */
    private void runWindow() {
        window = new Window(this);
        for (SoakEndpoint endpoint : endpoints) {
            endpoint.tx.paused = random.nextInt(5) == 0;
            endpoint.rx.paused = random.nextInt(5) == 0;
            endpoint.packs = endpoint.client.packs && random.nextInt(3) != 0;
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
                new Judge(this, endpoint).run();
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
            endpoint.looks.clear();
            endpoint.settlements.clear();
            endpoint.cancels.clear();
            endpoint.inbound.clear();
            endpoint.accesses.clear();
            endpoint.openSends = 0;
            if (endpoint.buffered != null) {
                endpoint.buffered.forget();
            }
        }
        sends.clear();
        receives.clear();
        accessesById.clear();
    }

    /** Drivers that nobody mistreats have nothing to complain of. */
    void checkErrors() {
        List<String> errors = drivers.errors();
        check(errors.isEmpty(), () -> "the drivers' error logs say " + errors);
    }

    void checkMemory() {
        for (SoakEndpoint endpoint : endpoints) {
            int disturbed = endpoint.memory.disturbed();
            check(disturbed < 0, () -> "memory of e" + endpoint.index + " was written to at " + disturbed);
        }
    }

    SoakEndpoint anyEndpoint() {
        return endpoints.get(random.nextInt(endpoints.size()));
    }

    /** Posts a message; false if it was refused. */
    boolean post(SoakMessage message, int offset, long destination) {
        SoakEndpoint from = endpoints.get(message.from);
        if (!message.tagged && neverHoldsBack() && hasManyUntagged(endpoints.get(message.to))) {
            return false;
        }
        message.postedStep = step;
        long left = drivers.isInvoker ? from.endpoint.txSizeLeft() : 0;
        // an engine that is called directly may end it before the call returns
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
     * Messages for multi-receive buffers never wait for slots of the completion queue. Else a look may find one that a
     * buffer posted earlier would accept.
     */
    boolean neverHoldsBack() {
        return drivers.driverShare == SoakDrivers.LARGE_SHARE;
    }

    /** One more could have to wait until those before it are in their buffers. */
    private static boolean hasManyUntagged(SoakEndpoint to) {
        return to.packs && to.inbound.stream().filter(each -> !each.tagged).count() >= MOST_ON_THE_WAY;
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
            receive.claim.settled = true;
            at.settlements.add(receive);
        } else if (receive.look == Flags.PEEK) {
            receive.position = at.receives.size();
            at.looks.add(receive);
        } else {
            at.receives.add(receive);
        }
        accepted(receive);
        return true;
    }

    private void refused(int result, long left, Object operation) {
        refused++;
        check(result == -FabricErrno.EAGAIN, () -> operation + " was answered " + FabricErrno.name(result));
        check(left == 0, () -> operation + " was refused although " + left + " may be posted");
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
        // an engine that is called directly may end it before the call returns
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
            onShown(queue, entry);
        } else if ((entry.flags() & (Flags.REMOTE_READ | Flags.REMOTE_WRITE)) != 0) {
            onReport(queue, entry);
        } else if ((entry.flags() & (Flags.RMA | Flags.ATOMIC)) != 0) {
            onAccessed(queue, entry);
        } else if ((entry.flags() & Flags.SEND) != 0) {
            onSent(queue, entry);
        } else {
            onReceived(queue, entry);
        }
    }

    /** Only entries of messages in a slab have such contexts. */
    private void onShown(SoakQueue queue, SoakEntry entry) {
        RecvContext shown = queue.cq.recvContext(entry.context());
        check(shown != null, () -> "no message was shown for " + entry);
        SoakEndpoint at = queue.receivers.stream().filter(each -> each.endpoint == shown.endpoint()).findFirst()
            .orElseThrow(() -> new AssertionError(entry + " in another queue than that of " + shown.endpoint()));
        at.buffered.onShown(entry, shown);
    }

    /** A peer has accessed the memory of an endpoint of this queue. */
    private void onReport(SoakQueue queue, SoakEntry entry) {
        check(entry.errno() == 0 && entry.context() == 0, () -> "an access was reported as " + entry);
        boolean hasData = (entry.flags() & Flags.REMOTE_CQ_DATA) != 0;
        SoakAccess access = hasData ? accessesById.get(entry.data()) : null;
        SoakEndpoint at = access != null ? endpoints.get(access.to)
            : queue.receivers.stream().filter(each -> each.client.reports).findFirst().orElse(null);
        check(at != null && at.rx == queue && (access != null) == hasData, () -> "no access for " + entry);
        long kind = entry.flags() & ~Flags.REMOTE_CQ_DATA;
        if (hasData) {
            access.reports++;
            check(access.reports == 1, () -> access + " was reported again: " + entry);
            check(kind == (Flags.RMA | Flags.REMOTE_WRITE) && entry.length() == access.length
                && entry.source() == at.addresses[access.from], () -> access + " was reported as " + entry);
        } else if ((kind & Flags.REMOTE_READ) != 0) {
            at.client.reportedReads++;
        } else {
            at.client.reportedWrites++;
        }
    }

    private void onAccessed(SoakQueue queue, SoakEntry entry) {
        if (entry.context() >= ENDPOINT_CONTEXT) {
            SoakEndpoint from = endpoints.get((int) (entry.context() - ENDPOINT_CONTEXT));
            check(from.tx == queue && entry.errno() == FabricErrno.EKEYREJECTED
                && from.accesses.stream().anyMatch(each -> each.slot == null && each.memory.closed),
                () -> "an inject failed: " + entry);
            from.openSends--;
            return;
        }
        SoakAccess access = accessesById.get(entry.context());
        check(access != null, () -> "no access for " + entry);
        SoakEndpoint from = endpoints.get(access.from);
        check(from.tx == queue, () -> access + " reported in another queue: " + entry);
        check(!access.ended, () -> access + " reported again: " + entry);
        check(access.wantsEntry || entry.errno() != 0, () -> access + " wants no entry: " + entry);
        check(entry.equals(new SoakEntry(access.id, access.entryFlags, 0, 0, 0, -1L, entry.errno(), 0, 0)),
            () -> access + " has " + entry);
        // the key is looked up before the range: a region that is closed meanwhile hides that an access is outside
        boolean mayBe = entry.errno() == access.mustFailWith
            || access.memory.closed && entry.errno() == FabricErrno.EKEYREJECTED;
        check(mayBe, () -> access + " failed: " + entry);
        from.openSends--;
        end(access, entry.errno());
    }

    /** An access has ended, as its entry or the room of its endpoint says: checks what it brought. */
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
            check(differs < 0, () -> "byte " + differs + " is not as the model has it: " + access);
            from.memory.restore(access.slot.offset(), access.slot.length());
            from.memory.give(access.slot);
            access.slot = null;
        }
    }

    private void onSent(SoakQueue queue, SoakEntry entry) {
        SoakMessage message = sends.get(entry.context());
        check(message != null, () -> "no send for " + entry);
        SoakEndpoint from = endpoints.get(message.from);
        check(from.tx == queue, () -> message + " reported in another queue: " + entry);
        check(!message.ended, () -> message + " reported again: " + entry);
        check(message.wantsEntry || entry.errno() != 0, () -> message + " wants no entry: " + entry);
        message.ended = true;
        message.errno = entry.errno();
        from.openSends--;
        check(entry.equals(new SoakEntry(message.id, Flags.SEND | message.kind(), 0, 0, 0, -1L, entry.errno(), 0, 0)),
            () -> message + " has " + entry);
        if (message.mustFailWith != 0 || entry.errno() != 0) {
            int expected = message.mustFailWith != 0 ? message.mustFailWith
                : message.cancelRequested ? FabricErrno.ECANCELED : 0;
            check(entry.errno() == expected, () -> message + " failed: " + entry);
        } else {
            reached(message);
        }
        release(from, message);
    }

    void release(SoakEndpoint from, SoakMessage message) {
        if (message.slot != null) {
            // whoever still reads the payload must not find it
            from.memory.restore(message.slot.offset(), message.slot.length());
            from.memory.give(message.slot);
            message.slot = null;
        }
    }

    /** The level that a send asked for is reached, as its entry says. */
    private void reached(SoakMessage message) {
        if (tellsArrival(message, message)) {
            message.arrivedBefore = Math.min(message.arrivedBefore, step + 1);
        }
        boolean looked = message.isMatchComplete() && look(message);
        if (message.isFenced()) {
            for (SoakMessage earlier : endpoints.get(message.from).sends) {
                if (earlier.id >= message.id) {
                    break;
                }
                if (earlier.to != message.to || earlier.mustFailWith != 0) {
                    continue;
                }
                check(earlier.ended || !earlier.wantsEntry, () -> earlier + " is open, later fenced " + message);
                if (tellsArrival(message, earlier)) {
                    earlier.arrivedBefore = Math.min(earlier.arrivedBefore, step + 1);
                }
                if (looked) {
                    assertMatched(earlier, message);
                }
            }
        }
        if (looked) {
            assertMatched(message, message);
        }
    }

    /** What is held back for a buffer is delivered, but messages of others may yet pass it. */
    private boolean tellsArrival(SoakMessage teller, SoakMessage message) {
        return teller.isDeliveryComplete() && (teller.isMatchComplete() || !mayBePacked(message));
    }

    private boolean mayBePacked(SoakMessage message) {
        return !message.tagged && endpoints.get(message.to).packs;
    }

    /** Reads what the receiver can see now; false if its reader pauses. */
    private boolean look(SoakMessage message) {
        SoakQueue queue = endpoints.get(message.to).rx;
        if (queue.paused || random.nextBoolean() || !queue.mayNest()) {
            return false;
        }
        queue.readAll();
        return true;
    }

    private void assertMatched(SoakMessage message, SoakMessage teller) {
        boolean tellsItself = message.hasData && !mayBeTakenSilently(message)
            && !mayBePacked(message);
        check(!tellsItself || message.errno != 0 || message.receivedBy != null,
            () -> message + " has no receive with an entry although " + teller + " has ended");
    }

    boolean mayBeTakenSilently(SoakMessage message) {
        SoakEndpoint to = endpoints.get(message.to);
        return to.buffered != null || to.selectiveReceives
            && (message.tagged ? (message.tag & SILENT_TAG) != 0 : untaggedSilent);
    }

    private void onReceived(SoakQueue queue, SoakEntry entry) {
        for (SoakEndpoint each : queue.receivers) {
            if (each.buffered != null && each.buffered.onClaimed(entry)) {
                return;
            }
        }
        SoakReceive receive = receives.get(entry.context());
        check(receive != null, () -> "no receive for " + entry);
        SoakEndpoint at = endpoints.get(receive.at);
        check(at.rx == queue, () -> receive + " reported in another queue: " + entry);
        check(!receive.ended, () -> receive + " reported again: " + entry);
        if (receive.isBuffer) {
            packing.onEntry(at, receive, entry);
            return;
        }
        check(receive.wantsEntry || entry.errno() != 0, () -> receive + " wants no entry: " + entry);
        receive.ended = true;
        receive.entry = entry;
        receive.endedStep = step;
        if (receive.isLook()) {
            onLooked(receive, entry);
            return;
        }
        boolean mayBe = receive.mustFailWith != 0 ? entry.errno() == receive.mustFailWith
            : entry.errno() == 0 || entry.errno() == FabricErrno.ETRUNC
            || receive.cancelRequested && entry.errno() == FabricErrno.ECANCELED;
        check(mayBe, () -> "failed: " + receive);
        if (!receive.tookMessage()) {
            check(entry.length() == 0, () -> "bytes without a message: " + receive);
            release(at, receive, 0);
            return;
        }
        int placed = (int) entry.length();
        check(placed <= receive.length, () -> "more than its room: " + receive);
        long id = (entry.flags() & Flags.REMOTE_CQ_DATA) != 0 ? entry.data()
            : placed >= Long.BYTES ? at.memory.idAt(receive.offset + receive.turned) : 0;
        if (id != 0) {
            take(receive, id);
            verify(at, receive, placed);
        }
    }

    /** A discard is a receive of all bytes by nobody; a look without success is nothing that the model knows of. */
    private void onLooked(SoakReceive look, SoakEntry entry) {
        if (entry.errno() != 0) {
            boolean mayBe = look.claim != null ? entry.errno() == FabricErrno.ETRUNC
                : entry.errno() == FabricErrno.ENOMSG
                || entry.errno() == FabricErrno.ENOSPC && (look.look & Flags.CLAIM) != 0;
            check(mayBe, () -> "failed: " + look);
            look.mustFailWith = look.claim != null ? 0 : entry.errno();
        } else if (look.claim == null) {
            found++;
        }
        boolean takes = look.mustFailWith == 0 && look.claim == null && look.look != Flags.PEEK;
        if (takes && (entry.flags() & Flags.REMOTE_CQ_DATA) != 0) {
            take(look, entry.data());
        }
    }

    /** The message that a receive has says who it is. */
    void take(SoakReceive receive, long id) {
        receive.message = taken(receive, id);
    }

    /** The message with this id, which a receive or buffer has now. */
    SoakMessage taken(SoakReceive receive, long id) {
        SoakMessage message = sends.get(id);
        check(message != null && message.to == receive.at, () -> "no message " + id + " for " + receive);
        check(message.receivedBy == null, () -> message + " is received again by " + receive);
        check(!message.isDropped(), () -> message + " is received by " + receive);
        message.receivedBy = receive;
        message.arrivedBefore = Math.min(message.arrivedBefore, step + 1);
        return message;
    }

    /** Looks at the memory of a receive whose message is known, and gives it back. */
    void verify(SoakEndpoint at, SoakReceive receive, int placed) {
        if (receive.turned != 0) {
            int outside = at.memory.straighten(receive.offset, receive.length, receive.turned, placed);
            check(outside < 0, () -> "byte " + (outside - receive.offset) + " of its pieces was written: " + receive);
        }
        int differs = placed == 0 ? -1 : at.memory.differs(receive.offset, placed, receive.message.id);
        check(differs < 0, () -> "byte " + differs + " of " + placed + " differs: " + receive);
        release(at, receive, placed);
    }

    private void release(SoakEndpoint at, SoakReceive receive, int placed) {
        if (receive.slot == null) {
            return;
        }
        int disturbed = at.memory.disturbed(receive.slot, receive.offset, placed);
        check(disturbed < 0, () -> "byte " + (disturbed - receive.offset) + " outside of its message was written: "
            + receive);
        at.memory.restore(receive.offset, placed);
        at.memory.give(receive.slot);
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

    /** Reads everything until something has happened. */
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
            check(drivers.nanoTime() - deadline < 0, () -> what + " never came");
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
