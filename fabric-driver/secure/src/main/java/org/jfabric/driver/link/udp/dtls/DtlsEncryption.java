package org.jfabric.driver.link.udp.dtls;

import java.nio.file.Path;
import org.jfabric.driver.config.DriverConfig;
import org.jfabric.driver.config.DtlsConfig;
import org.jfabric.driver.link.LinkServices;
import org.jfabric.driver.link.support.AccessList;
import org.jfabric.driver.link.udp.DatagramSecurity;
import org.jfabric.driver.tls.TlsIdentity;

/** Encrypts datagrams by the options of the driver. Any thread. */
final class DtlsEncryption implements DatagramSecurity.Maker {
    @Override
    public DtlsResources make(LinkServices services, DriverConfig config) {
        Path access = config.file(DtlsConfig.ACCESS_FILE);
        return new DtlsResources(
            services, TlsIdentity.ofDatagrams(config), access == null ? null : new AccessList(access), config);
    }

    @Override
    public int longestBytes(int datagramBytes) {
        return Math.min(datagramBytes - DtlsSession.OVERHEAD_BYTES, DtlsSession.MAX_MESSAGE_BYTES);
    }
}
