package org.jfabric.simulation.soak;

import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.IoVec;
import org.jfabric.RemoteMemory;
import org.jfabric.RemoteRequest;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/** Reads, writes and atomic operations on the memory of all endpoints; sometimes closes that memory. */
final class AccessKind implements Kind {
    private static final AccessCall[] CALLS = AccessCall.values();
    private static final long[] LEVELS = {0, Flags.TRANSMIT_COMPLETE, Flags.DELIVERY_COMPLETE};
    /** Local places of the operand, the compare value and the old value of an atomic operation. */
    private static final int COMPARE = 64;
    private static final int RESULT = 128;

    private final RemoteRequest request = new RemoteRequest();
    private final AtomicRequest atomic = new AtomicRequest();
    private final IoVec pieces = new IoVec();
    private final UnsafeBuffer injected = new UnsafeBuffer(new byte[Long.BYTES]);

    @Override
    public int weight(Random random) {
        return random.nextInt(40);
    }

    @Override
    public void run(SoakWorld world, Window window) {
        if (!world.accesses) {
            return;
        }
        Random random = world.random;
        SoakAccess access = draw(world, window);
        SoakEndpoint from = world.endpoints.get(access.from);
        SoakEndpoint to = world.endpoints.get(access.to);
        if (random.nextInt(400) == 0 && !world.drivers.isOfLibfabric()) {
            to.replaceAccessed();
            world.history.add("closed memory of e" + to.index + ", now " + to.accessed);
            return;
        }
        if (!from.maySend()) {
            return;
        }
        access.memory = to.accessed;
        if (world.drivers.isOfLibfabric() && !access.reads() && from.hasOpenRead(access.memory)) {
            // the read may return what a later write has written
            return;
        }
        boolean isAtomic = access.call.isAtomic();
        boolean isInject = access.call.isInject();
        int length = isAtomic ? Long.BYTES
            : Math.min(window.length(), isInject ? from.endpoint.injectSize() : AccessedMemory.LANE);
        access.length = length;
        access.offset = place(random, access, length);
        access.slot = from.memory.acquire(true, isAtomic ? RESULT + Long.BYTES : length);
        if (access.slot == null) {
            return;
        }
        access.begin = access.slot.begin(isAtomic ? 0 : random.nextInt(8));
        boolean posted = isAtomic ? operate(world, from, access) : move(world, from, access, random);
        if (!posted || isInject) {
            // the bytes of an inject may be overwritten at once
            from.memory.restore(access.slot.offset(), access.slot.length());
            from.memory.free(access.slot);
            access.slot = null;
        }
    }

    private static SoakAccess draw(SoakWorld world, Window window) {
        Random random = world.random;
        SoakAccess access = new SoakAccess();
        access.id = world.nextId++;
        boolean hasAtomics = (world.drivers.accesses() & Flags.ATOMIC) != 0;
        access.call = CALLS[random.nextInt(hasAtomics ? CALLS.length : AccessCall.MOVES)];
        int sender = random.nextInt(world.endpoints.size());
        access.from = window.onlySender >= 0 ? window.onlySender : sender;
        access.to = random.nextInt(world.endpoints.size());
        access.entryFlags = (access.call.isAtomic() ? Flags.ATOMIC : Flags.RMA)
            | (access.call.reads() ? Flags.READ : Flags.WRITE);
        SoakEndpoint from = world.endpoints.get(access.from);
        long flags = LEVELS[random.nextInt(LEVELS.length)] | (random.nextInt(3) != 0 ? Flags.COMPLETION : 0)
            | (random.nextInt(8) == 0 ? Flags.FENCE : 0) | (random.nextInt(4) == 0 ? Flags.MORE : 0);
        access.flags = access.call.hasFlags() ? flags : from.sendDefault;
        if (access.call == AccessCall.WRITEMSG && random.nextInt(3) == 0) {
            access.flags |= Flags.REMOTE_CQ_DATA;
        }
        access.hasData = access.call.hasData() || (access.flags & Flags.REMOTE_CQ_DATA) != 0;
        access.wantsEntry = !access.call.isInject()
            && (!from.selectiveSends || (access.flags & Flags.COMPLETION) != 0);
        return access;
    }

    /** A place in the initiator's lane, which is aligned for atomic operations. */
    private static int place(Random random, SoakAccess access, int length) {
        if (access.isSum()) {
            return access.memory.sum(random.nextInt(AccessedMemory.SUMS));
        }
        int lane = access.memory.lane(access.from);
        int room = AccessedMemory.LANE - length;
        // mostly near the begin, so that accesses overlap and their order matters
        int offset = random.nextInt(3) == 0 ? random.nextInt(room + 1) : Math.min(room, random.nextInt(64));
        return lane + (access.call.isAtomic() ? offset & -Long.BYTES : offset);
    }

    private boolean move(SoakWorld world, SoakEndpoint from, SoakAccess access, Random random) {
        long key = access.memory.key;
        long at = access.offset;
        if (random.nextInt(40) == 0 && !access.call.isInject() && !world.drivers.isOfLibfabric()) {
            // an unknown key, or a range that ends behind the region
            boolean rejected = random.nextBoolean();
            access.mustFailWith = rejected ? FabricErrno.EKEYREJECTED : FabricErrno.EFAULT;
            key = rejected ? -1 : key;
            at = rejected ? at : access.memory.length() - access.length + 1L;
        }
        if (access.reads()) {
            access.expected = access.memory.bytes(access.offset, access.length);
        } else {
            from.memory.fill(access.begin, access.length, access.id);
        }
        if (!world.post(access, move(from, access, at, key))) {
            return false;
        }
        if (!access.reads() && access.mustFailWith == 0) {
            byte[] bytes = new byte[access.length];
            from.memory.region().buffer().getBytes(access.begin, bytes);
            access.memory.write(access.offset, bytes);
        }
        return true;
    }

    private SoakWorld.Call move(SoakEndpoint from, SoakAccess access, long at, long key) {
        RemoteMemory remote = from.endpoint.remoteMemory();
        long buf = from.memory.at(access.begin);
        long peer = from.addresses[access.to];
        UnsafeBuffer buffer = from.memory.region().buffer();
        return switch (access.call) {
            case WRITE -> () -> remote.write(buf, access.length, peer, at, key, access.id);
            case WRITEV -> () -> remote.writev(split(buf, access.length), peer, at, key, access.id);
            case WRITEDATA -> () -> remote.writedata(buf, access.length, access.id, peer, at, key, access.id);
            case INJECT_WRITE -> () -> remote.injectWrite(buffer, access.begin, access.length, peer, at, key);
            case INJECT_WRITEDATA -> () ->
                remote.injectWritedata(buffer, access.begin, access.length, access.id, peer, at, key);
            case READ -> () -> remote.read(buf, access.length, peer, at, key, access.id);
            case READV -> () -> remote.readv(split(buf, access.length), peer, at, key, access.id);
            case WRITEMSG, READMSG -> () -> {
                request.clear().memory(buf, access.length).destAddr(peer).remote(at, key)
                    .opContext(access.id).flags(access.flags);
                if (access.hasData) {
                    request.remoteCqData(access.id);
                }
                return access.reads() ? remote.readmsg(request) : remote.writemsg(request);
            };
            default -> throw new AssertionError(access);
        };
    }

    private IoVec split(long buf, int length) {
        return pieces.clear().add(buf, length / 3).add(buf + length / 3, length - length / 3);
    }

    private boolean operate(SoakWorld world, SoakEndpoint from, SoakAccess access) {
        AccessedMemory memory = access.memory;
        UnsafeBuffer buffer = from.memory.region().buffer();
        boolean isSum = access.isSum();
        long old = isSum ? 0 : memory.word(access.offset);
        long operand = isSum ? 1 : access.id * 0x9E3779B97F4A7C15L;
        // half of the comparisons hold
        long compare = (access.id & 1) == 0 ? old : ~old;
        buffer.putLong(access.begin, operand);
        buffer.putLong(access.begin + COMPARE, compare);
        if (access.reads() && !isSum) {
            access.expected = memory.bytes(access.offset, Long.BYTES);
        }
        if (!world.post(access, operation(from, access, operand))) {
            return false;
        }
        switch (access.call) {
            case ATOMIC, FETCH -> memory.word(access.offset, old + operand);
            case INJECT_ATOMIC -> memory.word(access.offset, old ^ operand);
            case COMPARE -> memory.word(access.offset, compare == old ? operand : old);
            default -> {
                // sums are checked when they have ended
            }
        }
        return true;
    }

    private SoakWorld.Call operation(SoakEndpoint from, SoakAccess access, long operand) {
        long buf = from.memory.at(access.begin);
        long peer = from.addresses[access.to];
        long key = access.memory.key;
        int at = access.offset;
        injected.putLong(0, operand);
        atomic.clear().operation(
            access.call == AccessCall.COMPARE ? AtomicOperation.CSWAP : AtomicOperation.SUM, AtomicDatatype.UINT64, 1)
            .operands(buf).results(buf + RESULT).destAddr(peer).remote(at, key).opContext(access.id)
            .flags(access.flags);
        return switch (access.call) {
            case ATOMIC -> () -> from.endpoint.atomics().atomic(
                buf, 1, peer, at, key, AtomicDatatype.UINT64, AtomicOperation.SUM, access.id);
            case INJECT_ATOMIC -> () -> from.endpoint.atomics().injectAtomic(
                injected, 0, 1, peer, at, key, AtomicDatatype.UINT64, AtomicOperation.BXOR);
            case COMPARE -> () -> from.endpoint.atomics().compareAtomicmsg(atomic.compares(buf + COMPARE));
            default -> () -> from.endpoint.atomics().fetchAtomicmsg(atomic);
        };
    }

    /** Offset of the bytes that an access returns. */
    static int broughtTo(SoakAccess access) {
        return access.begin + (access.call.isAtomic() ? RESULT : 0);
    }
}
