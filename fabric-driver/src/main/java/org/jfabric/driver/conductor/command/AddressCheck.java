package org.jfabric.driver.conductor.command;

import org.jfabric.FabricErrno;
import org.jfabric.FabricException;
import org.jfabric.IbUdName;
import org.jfabric.SocketName;
import org.jfabric.driver.link.FabricName;
import org.jfabric.driver.link.support.HostNames;

/** Whether a text is an address: of our own wire, of a socket, of a queue pair. Stateless; any thread. */
final class AddressCheck {
    private AddressCheck() {
    }

    /**
     * Refuses what is no address; that of a socket may have a host's name.
     *
     * @param address any text.
     * @throws FabricException {@code FI_EINVAL}.
     */
    static void require(String address) {
        if (SocketName.isName(address) || HostNames.isHost(address) || IbUdName.isName(address)) {
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
     * Refuses what begins as an address and is none; whether a link reaches another text is the link's to say.
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
}
