package org.jfabric.driver.torture;

import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.jfabric.AtomicRequest;
import org.jfabric.RemoteRequest;
import org.jfabric.driver.kit.FabricNode;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;

/**
 * The writes, reads and additions of a sender in the {@link RemoteArea} of one receiver. A read finds the last write
 * that was confirmed; an addition finds the number of those before it.
 */
final class Accesses {
    /** Contexts of accesses are greater. */
    static final int CONTEXT = 2_000;

    private static final int READS = CONTEXT + RemoteArea.SLOTS;
    private static final int ADDITION = READS + RemoteArea.SLOTS;
    private static final int OLD_VALUE = 2 * RemoteArea.SLOTS * RemoteArea.SLOT_LENGTH;
    private static final int ONE = OLD_VALUE + 64;
    private static final int MOST = 6;
    private static final long LEVEL = Flags.COMPLETION | Flags.DELIVERY_COMPLETE;

    private final FabricNode node;
    private final int conversation;
    private final Ledger ledger;
    private final long dest;
    private final RemoteArea area;
    private final SplittableRandom random;
    private final UnsafeBuffer memory;
    private final RemoteRequest request = new RemoteRequest();
    private final AtomicRequest atomic = new AtomicRequest();
    private final boolean[] busy = new boolean[RemoteArea.SLOTS];
    private long writes;
    private int outstanding;
    private boolean isAdding;
    /** An addition stands in the ledger, and was not accepted yet. */
    private boolean isAdditionRefused;

    Accesses(FabricNode node, int conversation, Ledger ledger, long dest, RemoteArea area, SplittableRandom random) {
        this.node = node;
        this.conversation = conversation;
        this.ledger = ledger;
        this.dest = dest;
        this.area = area;
        this.random = random;
        memory = node.memory.buffer();
        memory.putLong(ONE, 1);
    }

    int outstanding() {
        return outstanding;
    }

    /** Perhaps posts one; returns 1 if so, 0 if not, or an errno that is none to try again after. */
    int post() {
        if (!area.isThere() || outstanding >= MOST) {
            return 0;
        }
        int dice = random.nextInt(10);
        int slot = random.nextInt(RemoteArea.SLOTS);
        int result;
        if (dice < 5) {
            result = busy[slot] ? -FabricErrno.EAGAIN : write(slot);
        } else if (dice < 8) {
            result = busy[slot] || ledger.written(slot) == 0 || ledger.written(slot) != ledger.writing(slot)
                ? -FabricErrno.EAGAIN : read(slot);
        } else {
            result = isAdding || !area.isAtomic() ? -FabricErrno.EAGAIN : add();
        }
        if (result == 0) {
            outstanding++;
            return 1;
        }
        return result == -FabricErrno.EAGAIN ? 0 : result;
    }

    private int write(int slot) {
        long number = ++writes;
        int local = slot * RemoteArea.SLOT_LENGTH;
        int length = Payload.length(random, RemoteArea.SLOT_LENGTH);
        Payload.write(memory, local, conversation, number, length);
        ledger.onWriting(slot, number);
        int result = node.endpoint.remoteMemory().writemsg(remote(slot).memory(node.memory.address(local), length)
            .flags(LEVEL).opContext(CONTEXT + slot));
        busy[slot] = result == 0;
        return result;
    }

    private int read(int slot) {
        int local = (RemoteArea.SLOTS + slot) * RemoteArea.SLOT_LENGTH;
        int result = node.endpoint.remoteMemory().readmsg(remote(slot)
            .memory(node.memory.address(local), RemoteArea.SLOT_LENGTH).flags(Flags.COMPLETION)
            .opContext(READS + slot));
        busy[slot] = result == 0;
        return result;
    }

    private RemoteRequest remote(int slot) {
        return request.clear().destAddr(dest).remote(area.address() + RemoteArea.slot(conversation, slot), area.key());
    }

    private int add() {
        if (!isAdditionRefused) {
            ledger.onAdding();
        }
        int result = node.endpoint.atomics().fetchAtomicmsg(atomic.clear()
            .operation(AtomicOperation.SUM, AtomicDatatype.UINT64, 1).operands(node.memory.address(ONE))
            .results(node.memory.address(OLD_VALUE)).destAddr(dest)
            .remote(area.address() + RemoteArea.counter(conversation), area.key()).flags(Flags.COMPLETION)
            .opContext(ADDITION));
        isAdding = result == 0;
        isAdditionRefused = result != 0;
        return result;
    }

    /** Of an access that has ended: a fault, or null. */
    String onEntry(FabricNode.Entry entry) {
        outstanding--;
        int context = (int) entry.context();
        if (context == ADDITION) {
            isAdding = false;
        } else {
            busy[(context - CONTEXT) % RemoteArea.SLOTS] = false;
        }
        if (entry.err() != 0) {
            return null;
        }
        if (context == ADDITION) {
            long old = memory.getLong(OLD_VALUE);
            String fault = old == ledger.additionsConfirmed() ? null
                : "an addition found " + old + " behind " + ledger.additionsConfirmed() + " others";
            ledger.onAdded();
            return fault;
        }
        int slot = (context - CONTEXT) % RemoteArea.SLOTS;
        if (context < READS) {
            ledger.onWritten(slot, ledger.writing(slot));
            return null;
        }
        ledger.onCompared();
        String fault = RemoteArea.fault(
            memory, (RemoteArea.SLOTS + slot) * RemoteArea.SLOT_LENGTH, conversation, ledger.written(slot));
        return fault == null ? null : "write " + ledger.written(slot) + " was confirmed, a read finds " + fault;
    }
}
