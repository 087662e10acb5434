package org.jfabric;

import java.util.function.IntSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.jfabric.info.AddressVectorAttr;
import org.jfabric.info.Codes;
import org.jfabric.info.CompletionQueueAttr;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;

/**
 * An enabled endpoint with all the objects that it needs, opened in one step with usual settings. Everything in
 * it is an ordinary object of the API, so a program that outgrows it uses those.
 *
 * <pre>{@code
 * try (Fabric fabric = Fabric.connect(); Messenger orders = fabric.messenger().name("orders").open()) {
 *     orders.endpoint().trecv(orders.memory().slice(0, 64), 7, 0, 1);
 *     orders.await(1, 1_000_000_000L, entry -> System.out.println(entry.len() + " bytes"));
 * }
 * }</pre>
 *
 * <p>It has a domain of its own, one completion queue for sends and receives, an address vector and one region of
 * registered memory.
 *
 * <p>Owner: one thread at a time, as its objects.
 */
public final class Messenger implements AutoCloseable {
    private static final int RETRY_LIMIT = 16;

    private final Domain domain;
    private final CompletionQueue queue;
    private final AddressVector peers;
    private final MemoryRegion memory;
    private final Endpoint endpoint;
    private final IdleStrategy idle;

    private Messenger(Domain domain, CompletionQueue queue, AddressVector peers, MemoryRegion memory, Endpoint endpoint,
        IdleStrategy idle) {
        this.idle = idle;
        this.domain = domain;
        this.queue = queue;
        this.peers = peers;
        this.memory = memory;
        this.endpoint = endpoint;
    }

    /**
     * The endpoint: sends and receives are posted to it.
     *
     * @return enabled until {@link #close()}.
     */
    public Endpoint endpoint() {
        return endpoint;
    }

    /**
     * The queue with the entries of all sends and receives.
     *
     * @return open until {@link #close()}.
     */
    public CompletionQueue queue() {
        return queue;
    }

    /**
     * The addresses of its peers.
     *
     * @return open until {@link #close()}.
     */
    public AddressVector peers() {
        return peers;
    }

    /**
     * Registered memory that messages are sent from and received into.
     *
     * @return open until {@link #close()}.
     */
    public MemoryRegion memory() {
        return memory;
    }

    /**
     * The domain of all these objects, to open more.
     *
     * @return open until {@link #close()}, which closes only what this class has opened.
     */
    public Domain domain() {
        return domain;
    }

    /**
     * The address that peers send to.
     *
     * @return text for {@link #peer} of another messenger, for example {@code jfabric://desk/orders}.
     */
    public String address() {
        return endpoint.name();
    }

    /**
     * Makes a peer known by its address.
     *
     * @param address text, as its {@link #address()}.
     * @return the destination for sends; its number is the source for directed receives too.
     * @throws FabricException as {@link AddressVector#insert(String)}.
     */
    public Destination peer(String address) {
        return new Destination(peers.insert(address), address);
    }

    /**
     * Sends a tagged message from memory of any kind, which may be used again when the call returns. A success has
     * no entry; a failure, for example of a peer that has ended, has an error entry. Longer messages are sent from
     * {@link #memory()} by {@link Endpoint#tsend(MemorySlice, Destination, long, long)}. For the thread that owns the
     * messenger.
     *
     * @param peer   where it goes.
     * @param source holds the message.
     * @param offset of its first byte.
     * @param length bytes, at most {@link Endpoint#injectSize()}.
     * @param tag    the message's tag.
     * @return 0; {@code -FI_EAGAIN} if there is no room now: {@link #poll} and try again; or another negative errno of
     *     {@link Endpoint#tinject(DirectBuffer, int, int, long, long)}.
     */
    public int send(Destination peer, DirectBuffer source, int offset, int length, long tag) {
        return peer == null ? -FabricErrno.EINVAL : endpoint.tinject(source, offset, length, peer.number(), tag);
    }

    /**
     * Shows entries that are there now, and has an embedded driver in mode INVOKER do its work.
     *
     * @param handler called for each entry.
     * @param limit   entries to show at most.
     * @return as {@link CompletionQueue#poll}: their number, or a negative errno, {@code -FI_EAGAIN} if there is none.
     */
    public int poll(CompletionHandler handler, int limit) {
        return queue.poll(handler, limit);
    }

    /**
     * Repeats a call that posts as long as there is no room for it, and shows entries meanwhile, because reading them
     * makes room. Use: {@code int result = own.retry(() -> own.endpoint().tsend(quote, desk, 7, 1), 1_000_000_000L,
     * handler)}. Keep the call in a field where nothing may be allocated. Not from a handler of the queue, which cannot
     * be read there: note what is to be sent, and send it when {@link #poll} has returned.
     *
     * @param call      posts, and answers as the calls of {@link Endpoint} do.
     * @param timeoutNs nanoseconds to try for at most, 0 or more.
     * @param handler   called for each entry that is read.
     * @return what the call answered last, {@code -FI_EAGAIN} when the time is over: the peer takes nothing, or the
     *     driver of a fabric that outlives it is away. If nothing was posted because the queue needs its reader, the
     *     answer of {@link #poll}: at {@code -FI_EAVAIL} take the error entry ({@link CompletionQueue#readErr}) and
     *     call again.
     */
    public int retry(IntSupplier call, long timeoutNs, CompletionHandler handler) {
        int result = call.getAsInt();
        if (result != -FabricErrno.EAGAIN) {
            return result;
        }
        long startNs = System.nanoTime();
        do {
            int read = queue.poll(handler, RETRY_LIMIT);
            if (read < 0 && read != -FabricErrno.EAGAIN) {
                return read;
            }
            idle.idle(Math.max(read, 0));
            result = call.getAsInt();
        } while (result == -FabricErrno.EAGAIN && System.nanoTime() - startNs < timeoutNs);
        idle.reset();
        return result;
    }

    /**
     * Waits for entries without a limit of time. If the other side may never come, give a limit.
     *
     * @param count   entries to wait for, 0 or more.
     * @param handler called for each entry.
     * @throws FabricException as {@link #await(int, long, CompletionHandler)}, but for the time.
     */
    public void await(int count, CompletionHandler handler) {
        await(count, Long.MAX_VALUE, handler);
    }

    /**
     * Waits for entries and shows them. The calling thread spins, or does what {@link Builder#idleStrategy} says; an
     * embedded driver in mode INVOKER works meanwhile.
     * The first error entry ends the call: entries that were shown before have been read, later ones have not.
     *
     * @param count     entries to wait for, 0 or more.
     * @param timeoutNs nanoseconds to wait at most for all of them, 0 or more.
     * @param handler   called for each entry.
     * @throws FabricException why an operation failed, whose error entry is read then; {@link FabricErrno#ETIMEDOUT}
     *     when the time is over; or another failure of {@link CompletionQueue#poll}.
     */
    public void await(int count, long timeoutNs, CompletionHandler handler) {
        long startNs = System.nanoTime();
        int seen = 0;
        while (seen < count) {
            int result = queue.poll(handler, count - seen);
            if (result > 0) {
                seen += result;
                idle.reset();
            } else if (result != -FabricErrno.EAGAIN) {
                throw failure(result, seen, count);
            } else if (System.nanoTime() - startNs >= timeoutNs) {
                throw new FabricException(FabricErrno.ETIMEDOUT,
                    seen + " of " + count + " entries came within " + timeoutNs + " ns at " + address(),
                    "Check that the other side runs and sends, or wait longer.");
            } else {
                idle.idle();
            }
        }
    }

    private FabricException failure(int result, int seen, int count) {
        CompletionError error = new CompletionError();
        if (result == -FabricErrno.EAVAIL && queue.readErr(error, 0) == 1) {
            return new FabricException(error.err(),
                "the operation with context " + error.opContext() + " failed after " + seen + " of " + count
                    + " entries: " + error.describe(), remedy(error.err()));
        }
        return new FabricException(result, "the queue cannot be read, after " + seen + " of " + count + " entries");
    }

    private static String remedy(int errno) {
        return errno == FabricErrno.ECONNREFUSED || errno == FabricErrno.EHOSTUNREACH
            ? "Check the address of the other side; if that does not run yet, start it first."
            : "See docs/what-can-go-wrong.md.";
    }

    /**
     * Closes the objects opened with it, not the fabric. Has no effect if it is already closed.
     *
     * @throws FabricException {@link FabricErrno#ETIMEDOUT} as {@link Fid#close()}; a repeated call closes the rest.
     */
    @Override
    public void close() {
        endpoint.close();
        queue.close();
        peers.close();
        memory.close();
        domain.close();
    }

    @Override
    public String toString() {
        return "Messenger{" + (endpoint.isOpen() ? address() : "closed") + '}';
    }

    /**
     * Settings of a {@link Messenger}; {@link Fabric#messenger()} makes one. May be used again.
     */
    public static final class Builder {
        private final Fabric fabric;
        private Info hints = new Info().caps(Flags.MSG | Flags.TAGGED);
        private String name;
        private int queueSize;
        private long memoryBytes = 64 << 10;
        private EventQueue events;
        private IdleStrategy idle = BusySpinIdleStrategy.INSTANCE;

        Builder(Fabric fabric) {
            this.fabric = fabric;
        }

        /**
         * Sets the capabilities and attributes that the endpoint must have.
         *
         * @param newHints copied; default is tagged and untagged messages of a reliable-datagram endpoint.
         * @return this.
         */
        public Builder hints(Info newHints) {
            hints = Codes.required(newHints, "hints").copy();
            return this;
        }

        /**
         * The endpoint's part of its address, so that peers know it in advance: {@code jfabric://driver/name}. Over
         * links whose addresses are those of sockets leave it out, and give the hints a {@link Info#srcAddr(String)}
         * such as {@code fi_sockaddr_in://192.0.2.2:7400}.
         *
         * @param newName a name that no other endpoint of the driver has; null, the default, lets the driver choose.
         * @return this.
         */
        public Builder name(String newName) {
            name = newName;
            return this;
        }

        /**
         * Operations that may be outstanding or unread at once.
         *
         * @param entries 1 or more; 0, the default, is the driver's {@code jfabric.queue.cqSize}.
         * @return this.
         */
        public Builder queueSize(int entries) {
            queueSize = entries;
            return this;
        }

        /**
         * Length of the registered memory.
         *
         * @param newMemoryBytes bytes, 1 or more; default 64 KiB.
         * @return this.
         */
        public Builder memoryBytes(long newMemoryBytes) {
            memoryBytes = newMemoryBytes;
            return this;
        }

        /**
         * Binds a queue for what becomes of the endpoint, for example that a group has ended.
         *
         * @param newEvents stays the caller's, who closes it after the messenger; null, the default, for none.
         * @return this.
         */
        public Builder events(EventQueue newEvents) {
            events = newEvents;
            return this;
        }

        /**
         * Sets what {@link Messenger#await} and {@link Messenger#retry} do while there is nothing to read.
         *
         * @param newIdle Agrona's, one of its own for each messenger, because most keep state; the default spins. With
         *     an embedded driver in mode INVOKER one that parks makes messages late, as the driver rests meanwhile.
         * @return this.
         */
        public Builder idleStrategy(IdleStrategy newIdle) {
            idle = Codes.required(newIdle, "idleStrategy");
            return this;
        }

        /**
         * Opens all of it. If a step fails, what was opened before is closed, as soon as the driver answers.
         *
         * @return enabled.
         * @throws FabricException {@link FabricErrno#ENODATA} if no link meets the hints, or as the call that failed.
         */
        public Messenger open() {
            Domain domain = fabric.domain(fabric.info(hints).best());
            CompletionQueue queue = null;
            AddressVector peers = null;
            MemoryRegion memory = null;
            Endpoint endpoint = null;
            boolean opened = false;
            try {
                queue = domain.openCompletionQueue(new CompletionQueueAttr().size(queueSize));
                peers = domain.openAddressVector(new AddressVectorAttr());
                memory = domain.allocate(memoryBytes);
                Info wanted = domain.info();
                if (name != null) {
                    wanted.srcAddr("jfabric://" + fabric.driverName() + '/' + name);
                }
                endpoint = domain.openEndpoint(wanted);
                endpoint.bind(queue, Flags.TRANSMIT | Flags.RECV);
                endpoint.bind(peers);
                if (events != null) {
                    endpoint.bind(events, 0);
                }
                endpoint.enable();
                opened = true;
                return new Messenger(domain, queue, peers, memory, endpoint, idle);
            } finally {
                if (!opened) {
                    closeAll(domain, endpoint, queue, peers, memory);
                }
            }
        }

        /** What the driver does not close in time it closes later, and the domain is closed then. */
        private static void closeAll(Domain domain, Fid... objects) {
            for (Fid object : objects) {
                try {
                    if (object != null) {
                        object.close();
                    }
                } catch (FabricException noAnswer) {
                    continue;
                }
            }
            domain.closeWhenEmpty();
        }
    }
}
