package org.jfabric;

/**
 * What all objects have in common (struct fid): a class, a context of the application's, and the operations close, bind
 * and control. For code that handles objects without knowing their kind; each kind says more in its own class.
 *
 * <p>All calls are control calls, but for {@link #fidClass()}, {@link #context()} and {@link #isOpen()}, which only
 * tell what is known. Source: fi_fabric(3) and the header fabric.h.
 */
public sealed interface Fid extends AutoCloseable
    permits Fabric, Domain, Endpoint, PassiveEndpoint, ConnectionRequest, CompletionQueue, Counter, EventQueue,
    AddressVector, MemoryRegion, MulticastGroup, WaitSet, PollSet {
    /**
     * Which kind of object it is.
     *
     * @return the class, the same one always.
     */
    FidClass fidClass();

    /**
     * The application's own value, given when the object was opened; nothing here looks at it. Wait sets and poll sets
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
     * Binds another object to this one (fi_ep_bind and others). What can be bound, and with which flags, is said by the
     * {@code bind} methods of the object's own class.
     *
     * @param object to be bound.
     * @param flags  of that kind of binding.
     * @throws FabricException {@link FabricErrno#ENOSYS} if nothing can be bound to this object,
     *     {@link FabricErrno#EINVAL} for a kind that cannot be bound to it, and what the object's own {@code bind}
     *     throws.
     */
    default void bind(Fid object, long flags) {
        throw new FabricException(FabricErrno.ENOSYS, "nothing can be bound to an object of class " + fidClass(),
            "Bind the other way round: queues, counters and vectors are bound to endpoints.");
    }

    /**
     * Tells about a wait object (fi_control). Other commands of libfabric are methods of their own here, for example
     * {@link Endpoint#setOpFlags(long)} and {@link Endpoint#enable()}.
     *
     * @param command a code of {@link ControlCommand}.
     * @param handle  receives the answer.
     * @return 0, or a negative errno; {@code -FI_ENOSYS} for a command that the object does not have,
     *     {@code -FI_EOPBADSTATE} if the object is closed.
     */
    default int control(int command, WaitObjectHandle handle) {
        return isOpen() ? -FabricErrno.ENOSYS : -FabricErrno.EOPBADSTATE;
    }

    /**
     * Closes the object. Again does nothing.
     *
     * @throws FabricException {@link FabricErrno#EBUSY} while others need it; it then stays open.
     */
    @Override
    void close();
}
