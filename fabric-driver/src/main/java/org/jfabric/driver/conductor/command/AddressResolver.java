package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.SocketName;
import org.jfabric.driver.conductor.ConductorContext;
import org.jfabric.driver.conductor.ServiceNames;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.HostNames;

import java.nio.file.Path;

/** Finds the endpoint behind an address that may name a service, or a host. Owner: conductor. */
final class AddressResolver {
    private final ConductorContext context;
    private final ServiceNames names;

    AddressResolver(ConductorContext context, ServiceNames names) {
        this.context = context;
        this.names = names;
    }

    /** Refuses what is neither an address of our own wire nor a socket address, perhaps with a host's name. */
    static void check(String address) {
        if (SocketName.isName(address) || HostNames.isHost(address)) {
            return;
        }
        String driver = FabricName.driverOf(address);
        String endpoint = FabricName.endpointOf(address);
        if (driver == null || !FabricName.isValidPart(driver) || !FabricName.isValidPart(endpoint)) {
            throw new FabricException(FabricErrno.EINVAL,
                "\"" + printable(address) + "\" is no address",
                "Write " + FabricName.of("<driver>", "<endpoint or service>") + ", each of 1 to 64 letters, digits, "
                    + "dots, hyphens and underscores, at most " + FabricName.MAX_LENGTH + " characters in all, or "
                    + SocketName.IN_SCHEME + "<number>:<port>, or " + SocketName.HOST_SCHEME + "<host>:<port>.");
        }
    }

    /** Whether {@link #resolve} does not look at files, so that the conductor may call it. */
    boolean isLocal(String address) {
        return SocketName.isName(address) || context.driverName().equals(FabricName.driverOf(address));
    }

    /** The endpoint's own address; on the resource thread if it is not local. */
    String resolve(String address) {
        if (SocketName.isName(address)) {
            // one text for each address, because peers are known by it
            return SocketName.parse(address).toString();
        }
        if (HostNames.isHost(address)) {
            return HostNames.resolve(address).toString();
        }
        String driver = FabricName.driverOf(address);
        String name = FabricName.endpointOf(address);
        if (isLocal(address)) {
            return FabricName.of(driver, names.resolve(name));
        }
        Path directory = context.directory().resolveSibling(driver);
        return FabricName.of(driver, ServiceNames.resolve(directory, driver, name));
    }

    private static String printable(String text) {
        String shown = text.length() > FabricName.MAX_LENGTH ? text.substring(0, 64) + "..." : text;
        return shown.replaceAll("[^\\x20-\\x7e]", "?");
    }
}
