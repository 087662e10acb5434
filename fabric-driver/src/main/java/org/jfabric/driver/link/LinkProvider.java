package org.jfabric.driver.link;

import java.util.List;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.info.Info;
import org.jfabric.info.Reason;
import org.jfabric.info.Verdict;

/**
 * Opens a link, and decides beforehand whether the link meets an application's hints.
 *
 * <p>Stateless; any thread.
 */
public abstract class LinkProvider {
    protected LinkProvider() {
    }

    /** The link's name in options, discovery and counters. */
    public abstract String name();

    /**
     * Compares hints with the attributes that the link offers in this driver on this machine.
     *
     * @param hints      the application's hints; zero and null members request nothing.
     * @return acceptance with a score, or rejection with each condition that failed.
     */
    public abstract Verdict verdict(Info hints, String driverName, DriverConfig config);

    /**
     * The conditions of this machine that keep the link from working, independent of an application's hints. May be
     * slow. Returns the conditions that fail, with values and remedies; empty for links that work everywhere.
     */
    public List<Reason> obstacles(DriverConfig config) {
        return List.of();
    }

    /**
     * Conditions that were examined and are met, but with a limit that an operator of the driver should know. Returns
     * the values, the load for which they suffice, and how to raise them; empty for most links.
     */
    public List<Reason> bounds(DriverConfig config) {
        return List.of();
    }

    /** The attributes that an application gets if it uses the link with hints that {@link #verdict} has accepted. */
    public abstract Info info(Info hints, String driverName, DriverConfig config);

    /**
     * The kind of addresses that endpoints of the link have. Returns true for addresses of the operating system or of a
     * card ({@link org.jfabric.info.SocketName}, {@link org.jfabric.info.IbUdName}), which {@link #bind} takes; false
     * for {@code jfabric://} names.
     */
    public boolean usesSocketNames() {
        return false;
    }

    /**
     * Whether the link reaches only the endpoints of its own driver. Every endpoint uses such a link in addition to the
     * requested one, so that endpoints of the same driver reach each other without a wire.
     */
    public boolean staysInDriver() {
        return false;
    }

    /** Whether messages to other hosts are encrypted and each side proves who it is. */
    public boolean isEncrypted() {
        return false;
    }

    /**
     * Whether operations of an endpoint end in the order of their posting without help, whichever peers they are for.
     */
    public boolean completesInOrder() {
        return false;
    }

    /**
     * Binds an address for an endpoint that is about to be opened, for links whose addresses belong to the operating
     * system. Resource thread.
     *
     * @param wanted attributes of the endpoint; {@link Info#srcAddr()} is the requested address.
     * @return the address, or null if the endpoint's address is its name within the driver.
     * @throws org.jfabric.info.FabricException {@code FI_EADDRINUSE}, {@code FI_EADDRNOTAVAIL} or another errno if the
     *     address cannot be bound.
     */
    public BoundAddress bind(Info wanted, DriverConfig config) {
        return null;
    }

    /**
     * As {@link #bind(Info, DriverConfig)}, for links whose addresses contain the endpoint's name.
     *
     * @param fabricName the endpoint's name within the driver, {@code jfabric://driver/endpoint}.
     * @return as above.
     */
    public BoundAddress bind(Info wanted, String fabricName, DriverConfig config) {
        return bind(wanted, config);
    }

    /** Whether this is no link, but a choice among the others: {@link #open} is not called. */
    public boolean joinsLinks() {
        return false;
    }

    /**
     * The links that an endpoint has, if they are a choice among the others. Returns the names, the best one first.
     */
    public List<String> links(Info hints, String driverName, DriverConfig config) {
        return List.of(name());
    }

    /**
     * Bytes of the largest private data of a connection, if the link connects endpoints (FI_OPT_CM_DATA_SIZE), as
     * {@link ConnectionManager#cmDataBytes()}; 0 if {@link Link#connections()} is null.
     */
    public int cmDataBytes() {
        return 0;
    }

    /** The same link with connections for packets of a protocol above, if these differ from those of applications. */
    public LinkProvider ofPackets() {
        return this;
    }

    /** Whether all endpoints are served by the first progress thread of a driver that has several. */
    public boolean staysOnFirstThread() {
        return false;
    }

    /** Opens the link. Called once, before the driver's first cycle. */
    public abstract Link open(LinkServices services, DriverConfig config);
}
