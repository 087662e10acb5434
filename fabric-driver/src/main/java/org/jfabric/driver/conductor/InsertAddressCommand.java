package org.jfabric.driver.conductor;

import java.nio.file.Path;
import java.util.List;
import org.jfabric.codec.control.AddressReady;
import org.jfabric.codec.control.Done;
import org.jfabric.codec.control.InsertAddress;
import org.jfabric.codec.control.RemoveAddress;
import org.jfabric.driver.engine.EngineEndpoint;
import org.jfabric.driver.link.MarkedAddress;
import org.jfabric.driver.link.support.FabricName;
import org.jfabric.driver.link.support.HostNames;
import org.jfabric.info.BestName;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.Flags;
import org.jfabric.info.IbUdName;
import org.jfabric.info.PeerPath;
import org.jfabric.info.SocketName;

/**
 * {@code fi_av_insert} and {@code fi_av_insertsvc}: resolves a service name to an endpoint, or a host name to a host,
 * then inserts the endpoint's own address. Owner: conductor.
 */
final class InsertAddressCommand extends Command {
    private enum State {
        CHECK,
        RESOLVED,
        INSERTED
    }

    private final long avId;
    private final String address;
    private final long flags;
    private final ServiceNames names;
    private State state = State.CHECK;
    private AddressVectorResource vector;
    private String resolved;
    private long fiAddr;
    /** An endpoint with this vector, none of which has a link to the address; else null. */
    private EngineEndpoint unreaching;

    InsertAddressCommand(CommandRequest request, InsertAddress message) {
        super(request);
        avId = message.avId();
        flags = message.flags();
        address = message.address();
        names = registry().names();
    }

    @Override
    protected Step step(long nowNs) {
        switch (state) {
            case CHECK -> {
                check();
                state = State.RESOLVED;
                resolve();
            }
            case RESOLVED -> {
                requireHost();
                state = State.INSERTED;
                List<EngineEndpoint> users = session().endpoints().values().stream()
                    .filter(resource -> resource.bound().vector() == vector).map(EndpointResource::endpoint).toList();
                onThreads(thread -> insert(users, thread));
            }
            default -> {
                if (unreaching != null) {
                    throw unreachable();
                }
                if (fiAddr < 0) {
                    throw new FabricException((int) -fiAddr,
                        "the address vector is full", "Remove addresses that are not used any more.");
                }
                return answer(new AddressReady(correlationId(), fiAddr, resolved));
            }
        }
        return Step.AGAIN;
    }

    private void check() {
        vector = session().addressVectors().get(avId);
        if (vector == null) {
            throw new FabricException(FabricErrno.EINVAL,
                "address vector " + avId + " is not open", "Open one first, and do not use it after its close.");
        }
        if ((flags & ~Flags.MORE) != 0) {
            throw new FabricException(FabricErrno.EBADFLAGS,
                "flags 0x" + Long.toHexString(flags) + " of an insertion, allowed is FI_MORE", "Insert without flags.");
        }
        require(address);
    }

    /** An endpoint may be bound to every address of its host, but a peer needs one of them. */
    private void requireHost() {
        String plain = MarkedAddress.plain(resolved);
        if (SocketName.isName(plain) && SocketName.parse(plain).inetAddress().isAnyLocalAddress()) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL,
                resolved + " is the wildcard address, which names no host",
                "Insert an address of the peer's host, with the same port.");
        }
    }

    /**
     * Whether the peer exists is not checked: it may be inserted before it is opened. Each thread has the same kinds of
     * links, and so comes to the same result.
     */
    private void insert(List<EngineEndpoint> users, int thread) {
        EngineEndpoint last = null;
        for (EngineEndpoint user : users) {
            if (user.links().reach(resolved)) {
                last = null;
                break;
            }
            last = user;
        }
        long result = last == null ? vector.table(thread).insert(resolved) : 0;
        if (thread == 0) {
            unreaching = last;
            fiAddr = result;
        }
    }

    private FabricException unreachable() {
        PeerPath none = new PeerPath("", unreaching.settings().address(), resolved, PeerPath.State.DOWN,
            ExplainPathCommand.verdicts(context(), unreaching, resolved, List.of(),
                unreaching.links().obstacles(resolved)));
        return new FabricException(FabricErrno.EADDRNOTAVAIL,
            "no link of the endpoint reaches the address: " + none.explain().stripTrailing(),
            "Insert an address that a link of the endpoint reaches, or open the endpoint with a match of its link.");
    }

    private void resolve() {
        if (SocketName.isName(address)) {
            // one text for each address, because peers are identified by it
            resolved = SocketName.parse(address).toString();
            return;
        }
        if (IbUdName.isName(address)) {
            resolved = IbUdName.parse(address).toString();
            return;
        }
        if (BestName.isName(address)) {
            resolved = BestName.parse(address).toString();
            return;
        }
        if (MarkedAddress.isName(address)) {
            resolved = MarkedAddress.canonical(address);
            return;
        }
        if (HostNames.isHost(address)) {
            background(() -> resolved = HostNames.resolve(address).toString());
            return;
        }
        String driver = FabricName.driverOf(address);
        String name = FabricName.endpointOf(address);
        if (driver.equals(context().driverName())) {
            resolved = names.resolve(driver, name);
        } else {
            Path directory = context().directory().resolveSibling(driver);
            background(() -> resolved = ServiceNames.resolve(directory, driver, name));
        }
    }

    /**
     * Refuses a text that is no address: of a driver's endpoint, of a socket, or of a queue pair. The address of a
     * socket may have a host name.
     *
     * @param address any text.
     * @throws FabricException {@code FI_EINVAL}.
     */
    static void require(String address) {
        if (SocketName.isName(address) || HostNames.isHost(address) || IbUdName.isName(address)
            || BestName.isName(address) || MarkedAddress.isName(address)) {
            return;
        }
        String driver = FabricName.driverOf(address);
        String endpoint = FabricName.endpointOf(address);
        if (driver == null || !FabricName.isValidPart(driver) || !FabricName.isValidPart(endpoint)) {
            throw new FabricException(FabricErrno.EINVAL,
                "\"" + printable(address) + "\" is no address",
                "Write " + FabricName.of("<driver>", "<endpoint or service>") + ", each of 1 to 64 letters, digits, "
                    + "dots, hyphens and underscores, at most " + FabricName.MAX_LENGTH + " characters in all, or "
                    + SocketName.IN_SCHEME + "<number>:<port>, or " + SocketName.HOST_SCHEME + "<host>:<port>,"
                    + " with a port from 0 to 65535.");
        }
    }

    /**
     * Refuses a text that begins as an address of a driver's endpoint and is not one. The links validate other texts.
     *
     * @param address any text.
     * @throws FabricException {@code FI_EINVAL}.
     */
    static void requireIfOurs(String address) {
        if (address.startsWith(FabricName.SCHEME)) {
            require(address);
        }
    }

    private static String printable(String text) {
        String shown = text.length() > FabricName.MAX_LENGTH ? text.substring(0, 64) + "..." : text;
        return shown.replaceAll("[^\\x20-\\x7e]", "?");
    }

    /** {@code fi_av_remove}. Owner: conductor. */
    static final class Removal extends Command {
        private final long avId;
        private final long fiAddr;
        private final long flags;
        private boolean removed;
        private int result;

        Removal(CommandRequest request, RemoveAddress message) {
            super(request);
            avId = message.avId();
            fiAddr = message.fiAddr();
            flags = message.flags();
        }

        @Override
        protected Step step(long nowNs) {
            if (!removed) {
                AddressVectorResource vector = session().addressVectors().get(avId);
                if (vector == null || flags != 0) {
                    throw new FabricException(vector == null ? FabricErrno.EINVAL : FabricErrno.EBADFLAGS,
                        "removal from address vector " + avId + (vector == null ? ", which is not open"
                            : " with flags 0x" + Long.toHexString(flags) + ", needed 0"),
                        "Remove from an open address vector, without flags.");
                }
                removed = true;
                onThreads(thread -> {
                    int each = vector.table(thread).remove(fiAddr);
                    if (thread == 0) {
                        result = each;
                    }
                });
                return Step.AGAIN;
            }
            if (result < 0) {
                throw new FabricException(-result,
                    "address " + fiAddr + " is not in address vector " + avId, "Remove each address once.");
            }
            return answer(new Done(correlationId()));
        }
    }
}
