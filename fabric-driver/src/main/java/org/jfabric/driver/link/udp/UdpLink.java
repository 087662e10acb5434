package org.jfabric.driver.link.udp;

import java.util.function.Consumer;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.UdpConfig;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.LocalEndpoint;
import org.jfabric.driver.link.support.DatagramLink;
import org.jfabric.driver.link.support.LocalAddresses;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.info.SocketName;

/**
 * Exchanges datagrams with any host: each endpoint has a socket, each message is one datagram.
 *
 * <p>Owner: progress agent.
 */
public final class UdpLink extends DatagramLink<UdpEndpoint> {
    private final String name;
    private final LinkServices services;
    private final DriverConfig config;
    private final ChannelLimits limits;
    /** What encrypted endpoints share, or null. */
    private final DatagramSecurity dtls;
    /** Made with the first endpoint, so that drivers without UDP endpoints do not allocate its memory. */
    private UdpReader reader;
    /** Told of each port before any other call. */
    private final Consumer<UdpPort> onAttach;

    /**
     * A link without endpoints, of plain ones.
     *
     * @param onAttach told of each port before any other call.
     */
    public UdpLink(
        String name, LinkServices services, DriverConfig config, ChannelLimits limits, Consumer<UdpPort> onAttach) {
        this(name, services, config, limits, null, onAttach);
    }

    /**
     * A link without endpoints.
     *
     * @param dtls what its encrypted endpoints share, owned by the link; null if they are plain.
     */
    UdpLink(
        String name, LinkServices services, DriverConfig config, ChannelLimits limits, DatagramSecurity dtls,
        Consumer<UdpPort> onAttach) {
        this.name = name;
        this.dtls = dtls;
        this.services = services;
        this.config = config;
        this.limits = limits;
        this.onAttach = onAttach;
    }

    /** What encrypted endpoints share, or null. */
    DatagramSecurity dtls() {
        return dtls;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public boolean reaches(String remoteAddress) {
        return SocketName.isName(remoteAddress);
    }

    @Override
    public boolean reaches(String ownAddress, String remoteAddress) {
        return reaches(remoteAddress) && !LocalAddresses.areOfTwoFamilies(ownAddress, remoteAddress);
    }

    @Override
    public void attach(LocalEndpoint endpoint) {
        if (!(endpoint.bound() instanceof UdpPort port)) {
            throw new FabricException(FabricErrno.EADDRNOTAVAIL,
                "the endpoint " + endpoint.address() + " has no UDP socket",
                "Open it for the link " + name + " alone.");
        }
        if (reader == null) {
            reader = new UdpReader(config.get(UdpConfig.BATCH_SIZE));
        }
        onAttach.accept(port);
        add(new UdpEndpoint(endpoint, port, services, limits, reader, config, dtls));
    }

    @Override
    public void close() {
        super.close();
        if (dtls != null) {
            dtls.close();
        }
    }
}
