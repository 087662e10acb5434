package org.jfabric;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.FidClass;

/**
 * The common base of all fabric objects (struct fid): a class, a context of the application, and the operations close
 * and bind. It is for code that handles objects without knowing their class.
 *
 * <pre>{@code
 * Fid[] objects = {endpoint, queue, domain};
 * for (Fid object : objects) {
 *     object.close();
 * }
 * }</pre>
 *
 * <p>All calls are control calls except {@link #fidClass()}, {@link #context()} and {@link #isOpen()}, which only read
 * fields. Source: fi_fabric(3) and the header fabric.h.
 */
public sealed interface Fid extends AutoCloseable
    permits Fabric, Domain, Endpoint, ScalableEndpoint, PassiveEndpoint, ConnectionRequest, CompletionQueue, Counter,
    EventQueue, AddressVector, MemoryRegion, MulticastGroup, WaitSet, PollSet, SocketEndpoint, SharedTransmitContext {
    /**
     * Returns the class of the object.
     *
     * @return the class; it never changes.
     */
    FidClass fidClass();

    /**
     * The application's own value, given when the object was opened; JFabric does not use it. Wait sets and poll sets
     * are opened without one, as in libfabric.
     *
     * @return the value, 0 if none was given.
     */
    default long context() {
        return 0;
    }

    /**
     * Whether {@link #close()} has not succeeded yet.
     *
     * @return false once it is closed.
     */
    boolean isOpen();

    /**
     * Binds another object to this one (fi_ep_bind and others). The {@code bind} methods of each class describe which
     * objects can be bound, and with which flags.
     *
     * @param object to be bound.
     * @param flags  of that kind of binding.
     * @throws FabricException {@link FabricErrno#ENOSYS} if nothing can be bound to this object,
     *     {@link FabricErrno#EINVAL} for a class that cannot be bound to it, and the errors of the object's own
     *     {@code bind}.
     */
    default void bind(Fid object, long flags) {
        throw new FabricException(FabricErrno.ENOSYS, "nothing can be bound to an object of class " + fidClass(),
            "Bind the other way round: queues, counters and vectors are bound to endpoints.");
    }

    /**
     * Closes the object. Has no effect if it is already closed. An interrupt does not end the call; the thread is
     * still interrupted after it. After the return the driver accesses no memory through the object: it has answered,
     * or it has ended.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while other objects use it; it then stays open.
     *     {@link FabricErrno#ETIMEDOUT} if the driver does not answer within {@link FabricConfig#commandTimeoutNs()}:
     *     the object stays open until it does, <b>and its memory must not be freed or used for something else</b>.
     *     Nothing else can be done with the object. A repeated call awaits the same answer, and an answer that comes
     *     without one closes the object, which {@link #isOpen()} shows.
     */
    @Override
    void close();
}
