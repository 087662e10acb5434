package org.jfabric;

import org.agrona.DirectBuffer;
import org.jfabric.client.WorkRequest;
import org.jfabric.info.AtomicDatatype;
import org.jfabric.info.AtomicOperation;
import org.jfabric.info.EndpointType;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.MrMode;
import org.jfabric.layout.AtomicForm;

/**
 * Atomic operations on peers' registered memory (fi_atomic(3)).
 *
 * <pre>{@code
 * request.operation(AtomicOperation.SUM, AtomicDatatype.INT64, 1).operands(one.address()).results(old.address())
 *     .destAddr(peer).remote(0, key).opContext(1);
 * int result = endpoint.atomics().fetchAtomicmsg(request);
 * }</pre>
 *
 * <p>The peer's driver executes each operation; an element is changed at once, several elements are not. Elements of 4
 * and 8 bytes are atomic also with respect to the application that owns the memory, if it uses a {@code VarHandle} on
 * them; smaller ones only among the operations of that driver.
 *
 * <p>Over verbs the peer's card executes them: {@code SUM} and {@code CSWAP} of one integer of 64 bits, atomic only
 * among the operations of that card, with both rights; the queries refuse all others.
 *
 * <p>Memory is named and checked as for {@link RemoteMemory}, with the same errors. A base operation needs
 * {@link Flags#REMOTE_WRITE} of the region, {@link AtomicOperation#ATOMIC_READ} needs {@link Flags#REMOTE_READ}, all
 * others need both. {@code FI_EINVAL} ends an operation whose first element is not at a multiple of its size. The
 * success entry of a base operation says that the memory is changed, any other's that the old values are here. Order
 * holds as for reads and writes.
 *
 * <p>Calls return 0 or a negative errno and do not block; the codes are those of {@link Endpoint}, and
 * {@code -FI_EOPNOTSUPP} if the endpoint lacks the capability {@link Flags#ATOMIC} or the operation does not exist for
 * the datatype. Owner: the submitting thread of the endpoint's transmit completion queue.
 */
public final class Atomics {
    /** Flags that a call may carry. */
    private static final long FETCH_CALL = Flags.COMPLETION | Flags.MORE | Flags.FENCE | OperationFlags.ACCESS_LEVELS;
    private static final long BASE_CALL = FETCH_CALL | Flags.INJECT;

    private final Endpoint endpoint;
    /** {@code Flags.READ}, {@code Flags.WRITE} or both. */
    private final long offered;
    /** A card executes the operations, not the peer's driver. */
    private final boolean isOfCard;
    private final AtomicRequest request = new AtomicRequest();

    Atomics(Endpoint endpoint, Info info) {
        long caps = info.caps();
        this.endpoint = endpoint;
        // those of reliable datagrams are packets to the peer's driver, whatever reads and writes are
        this.isOfCard = (info.domainAttr().mrMode() & MrMode.PROV_KEY) != 0
            && info.epAttr().type() == EndpointType.MSG;
        this.offered = (caps & Flags.ATOMIC) == 0 ? 0 : Info.directions(caps) & (Flags.READ | Flags.WRITE);
    }

    /**
     * Posts an operation that changes the peer's memory.
     *
     * @param buf        address in registered memory of the operands; they belong to the driver until the entry is
     *                   read.
     * @param count      elements.
     * @param destAddr   the peer, from the address vector; a connected endpoint ignores it.
     * @param remoteAddr {@link MemoryRegion#remoteAddress()} of the peer's region plus the offset of the first element.
     * @param key        key of that region.
     * @param datatype   type of the elements.
     * @param operation  what is done with them.
     * @param opContext  returned in the entry.
     * @return 0 or a negative errno of this class.
     */
    public int atomic(
        long buf, long count, long destAddr, long remoteAddr, long key, AtomicDatatype datatype,
        AtomicOperation operation, long opContext) {
        if (datatype == null || operation == null) {
            return -FabricErrno.EINVAL;
        }
        Submission transfers = endpoint.accesses();
        if (transfers == null) {
            return refused();
        }
        transfers.enter();
        try {
            request.clear().operation(operation, datatype, count).operands(buf).destAddr(destAddr)
                .remote(remoteAddr, key).opContext(opContext);
            WorkRequest work = transfers.transmit(WorkRequest.ATOMIC);
            int refusal = prepare(work, request, AtomicForm.BASE, endpoint.sendFlags() & BASE_CALL);
            return refusal != 0 ? refusal : transfers.post(work);
        } finally {
            transfers.exit();
        }
    }

    /**
     * Posts an operation that changes the peer's memory, with named arguments.
     *
     * @param atomicRequest may be reused by the caller after the return; flags may be {@link Flags#COMPLETION}, {@link
     *                      Flags#MORE}, {@link Flags#FENCE}, {@link Flags#INJECT} and completion levels.
     * @return 0 or a negative errno of this class; {@code -FI_EINVAL} for null, {@code -FI_EBADFLAGS} for other flags.
     */
    public int atomicmsg(AtomicRequest atomicRequest) {
        return postMsg(atomicRequest, AtomicForm.BASE);
    }

    /**
     * Posts an operation whose operands may be reused at once; there is no entry unless it fails.
     *
     * @param source     any buffer.
     * @param offset     of the operands in it.
     * @param count      elements, at most {@link Endpoint#injectSize()} bytes.
     * @param destAddr   as for {@link #atomic}.
     * @param remoteAddr as for {@link #atomic}.
     * @param key        as for {@link #atomic}.
     * @param datatype   as for {@link #atomic}.
     * @param operation  as for {@link #atomic}.
     * @return 0 or a negative errno of this class.
     */
    public int injectAtomic(
        DirectBuffer source, int offset, int count, long destAddr, long remoteAddr, long key, AtomicDatatype datatype,
        AtomicOperation operation) {
        if (datatype == null || operation == null || source == null || offset < 0 || count < 0
            || count > endpoint.injectSize() / datatype.sizeBytes()
            || offset > source.capacity() - count * datatype.sizeBytes()) {
            return -FabricErrno.EINVAL;
        }
        Submission transfers = endpoint.accesses();
        if (transfers == null) {
            return refused();
        }
        transfers.enter();
        try {
            request.clear().operation(operation, datatype, count).destAddr(destAddr).remote(remoteAddr, key)
                .opContext(endpoint.context());
            WorkRequest work = transfers.transmit(WorkRequest.ATOMIC);
            int refusal = prepare(work, request, AtomicForm.BASE, Flags.INJECT);
            return refusal != 0 ? refusal
                : transfers.inject(work, source, offset, count * datatype.sizeBytes());
        } finally {
            transfers.exit();
        }
    }

    /**
     * Posts an operation that changes the peer's memory and brings its old values.
     *
     * @param atomicRequest as for {@link #atomicmsg}, without {@link Flags#INJECT}.
     * @return as {@link #atomicmsg}.
     */
    public int fetchAtomicmsg(AtomicRequest atomicRequest) {
        return postMsg(atomicRequest, AtomicForm.FETCH);
    }

    /**
     * Posts an operation that changes the peer's memory depending on compare values, and brings its old values.
     *
     * @param atomicRequest as for {@link #fetchAtomicmsg}.
     * @return as {@link #atomicmsg}.
     */
    public int compareAtomicmsg(AtomicRequest atomicRequest) {
        return postMsg(atomicRequest, AtomicForm.COMPARE);
    }

    /**
     * Whether {@link #atomic} has an operation for a datatype.
     *
     * @param datatype  type of the elements.
     * @param operation the operation.
     * @return most elements of one call, or {@code -FI_EOPNOTSUPP}.
     */
    public long atomicvalid(AtomicDatatype datatype, AtomicOperation operation) {
        return valid(AtomicForm.BASE, Flags.WRITE, datatype, operation);
    }

    /**
     * Whether {@link #fetchAtomicmsg} has an operation for a datatype.
     *
     * @param datatype  type of the elements.
     * @param operation the operation.
     * @return most elements of one call, or {@code -FI_EOPNOTSUPP}.
     */
    public long fetchAtomicvalid(AtomicDatatype datatype, AtomicOperation operation) {
        return valid(AtomicForm.FETCH, Flags.READ, datatype, operation);
    }

    /**
     * Whether {@link #compareAtomicmsg} has an operation for a datatype.
     *
     * @param datatype  type of the elements.
     * @param operation the operation.
     * @return most elements of one call, or {@code -FI_EOPNOTSUPP}.
     */
    public long compareAtomicvalid(AtomicDatatype datatype, AtomicOperation operation) {
        return valid(AtomicForm.COMPARE, Flags.READ, datatype, operation);
    }

    private long valid(int form, long direction, AtomicDatatype datatype, AtomicOperation operation) {
        if (datatype == null || operation == null) {
            return -FabricErrno.EINVAL;
        }
        boolean exists = (offered & direction) != 0 && exists(form, datatype, operation);
        return exists ? maxCount(datatype) : -FabricErrno.EOPNOTSUPP;
    }

    private boolean exists(int form, AtomicDatatype datatype, AtomicOperation operation) {
        return isOfCard ? AtomicForm.existsOnCard(form, datatype.code(), operation.code())
            : AtomicForm.exists(form, datatype, operation);
    }

    private long maxCount(AtomicDatatype datatype) {
        return isOfCard ? 1 : AtomicForm.MAX_BYTES / datatype.sizeBytes();
    }

    private int postMsg(AtomicRequest atomicRequest, int form) {
        return atomicRequest == null ? -FabricErrno.EINVAL : post(atomicRequest, form, atomicRequest.trigger(), null);
    }

    /** Posts an operation; work is null unless it is deferred, and the condition unless a counter starts it. */
    int post(AtomicRequest posted, int form, TriggeredContext trigger, DeferredWork work) {
        Submission transfers = endpoint.accesses();
        if (transfers == null) {
            return refused();
        }
        boolean isTriggered = work != null || posted.isTriggered();
        long flags = EndpointTriggers.flags(posted.flags(), work);
        if ((flags & ~(form == AtomicForm.BASE ? BASE_CALL : FETCH_CALL)) != 0
            || isTriggered && endpoint.triggers() == null) {
            return -FabricErrno.EBADFLAGS;
        }
        transfers.enter();
        try {
            WorkRequest filled = transfers.transmit(WorkRequest.ATOMIC);
            if (isTriggered && !endpoint.triggers().fill(filled, trigger, work)) {
                return -FabricErrno.EINVAL;
            }
            int refusal = prepare(
                filled, posted, form, flags | (work == null ? endpoint.messages().alwaysForSends() : 0));
            return refusal != 0 ? refusal : transfers.post(filled);
        } finally {
            transfers.exit();
        }
    }

    /** Fills the arguments, under the lock of the transmit queue; returns 0 or why it cannot be posted. */
    private int prepare(WorkRequest filled, AtomicRequest posted, int form, long flags) {
        long direction = form == AtomicForm.BASE ? Flags.WRITE : Flags.READ;
        if ((offered & direction) == 0 || !exists(form, posted.datatype(), posted.operation())) {
            return refused();
        }
        long count = posted.count();
        if (count < 0 || count > maxCount(posted.datatype())) {
            return -FabricErrno.EINVAL;
        }
        filled.form = form;
        filled.flags = flags | Flags.ATOMIC | direction;
        return posted.fill(filled, form != AtomicForm.BASE, form == AtomicForm.COMPARE) ? 0 : -FabricErrno.EINVAL;
    }

    private int refused() {
        int refusal = endpoint.refused();
        return refusal == 0 ? -FabricErrno.EOPNOTSUPP : refusal;
    }
}
