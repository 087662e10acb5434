package org.jfabric.driver.link;

import org.jfabric.Info;
import org.jfabric.Reason;
import org.jfabric.Verdict;
import org.jfabric.driver.config.DriverConfig;

import java.util.List;

/**
 * Makes a link, and says beforehand whether it suits what an application asks for.
 *
 * <p>Stateless; any thread.
 */
public abstract class LinkProvider {
    /** For subclasses. */
    protected LinkProvider() {
    }

    /**
     * The link's name as in options, discovery and counters.
     *
     * @return for example {@code shm}.
     */
    public abstract String name();

    /**
     * Compares hints with what the link offers in this driver on this machine.
     *
     * @param hints      what the application asks for; zero and null members ask for nothing.
     * @param driverName name of the driver, part of addresses.
     * @param config     options of the driver.
     * @return chosen with a score, or rejected with each condition that failed.
     */
    public abstract Verdict verdict(Info hints, String driverName, DriverConfig config);

    /**
     * What on this machine keeps the link from working, whatever an application asks for. May be slow.
     *
     * @param config options of the driver.
     * @return conditions that fail, with values and remedies; none for links that work everywhere.
     */
    public List<Reason> obstacles(DriverConfig config) {
        return List.of();
    }

    /**
     * What was examined and suffices, but has an end that whoever runs the driver should know.
     *
     * @param config options of the driver.
     * @return values, what they are enough for, and what to do for more; none for most links.
     */
    public List<Reason> bounds(DriverConfig config) {
        return List.of();
    }

    /**
     * What an application gets if it uses the link with those hints, for a verdict that was positive.
     *
     * @param hints      as for {@link #verdict}.
     * @param driverName name of the driver.
     * @param config     options of the driver.
     * @return every attribute filled in.
     */
    public abstract Info info(Info hints, String driverName, DriverConfig config);

    /**
     * How endpoints of the link are called.
     *
     * @return true for addresses of the operating system or of a card ({@link org.jfabric.SocketName},
     *     {@link org.jfabric.IbUdName}), which {@link #bind} takes; false for {@link FabricName}s.
     */
    public boolean usesSocketNames() {
        return false;
    }

    /**
     * Takes an address for an endpoint that is to be opened, for links whose addresses are the operating system's.
     * Resource thread.
     *
     * @param wanted attributes of the endpoint; {@link Info#srcAddr()} asks for an address.
     * @param config options of the driver.
     * @return the address, or null where the endpoint's name within the driver is all of it.
     * @throws org.jfabric.FabricException {@code FI_EADDRINUSE}, {@code FI_EADDRNOTAVAIL} or why it is not given.
     */
    public BoundAddress bind(Info wanted, DriverConfig config) {
        return null;
    }

    /**
     * Private data of a connection, if the link connects endpoints (FI_OPT_CM_DATA_SIZE).
     *
     * @return bytes as {@link ConnectionManager#cmDataBytes()}; 0 if {@link Link#connections()} is null.
     */
    public int cmDataBytes() {
        return 0;
    }

    /**
     * Makes the link; called once, before the first cycle.
     *
     * @param services what the driver offers.
     * @param config   options of the driver.
     * @return the link.
     */
    public abstract Link open(LinkServices services, DriverConfig config);
}
