package org.jfabric.driver.link;

import org.jfabric.info.BestName;
import org.jfabric.info.Reason;

/**
 * Which links two endpoints with a {@link BestName} have in common. The names decide; whether a connection can be made
 * shows when it is made. Pure functions; any thread.
 */
public final class BestChoice {
    private BestChoice() {
    }

    /** The condition that keeps a link from being used. Returns null if the link can be tried. */
    public static Reason obstacle(BestName own, BestName peer, String linkName) {
        boolean isHere = own.folder().equals(peer.folder());
        boolean isOwnDriver = isHere && own.driver().equals(peer.driver());
        String address = own.ways().get(linkName);
        if (address == null) {
            // only other endpoints of the driver are reached by it, so that no peer needs to know
            return isOwnDriver ? null : new Reason("driver of the peer", peer.folder() + '/' + peer.driver(),
                own.folder() + '/' + own.driver(), "");
        }
        if (!peer.ways().containsKey(linkName)) {
            return new Reason("links of the peer", String.join(", ", peer.ways().keySet()), linkName,
                "Enable the link in the peer's driver, by jfabric.link.enabled");
        }
        if (!address.isEmpty()) {
            return null;
        }
        if (isOwnDriver) {
            return new Reason("driver of the peer", peer.driver(), "another driver than " + own.driver(), "");
        }
        return isHere ? null : new Reason("folder of the peer's driver", peer.folder(), own.folder(),
            "Let both drivers see one folder of one running system, by jfabric.dir.base");
    }
}
