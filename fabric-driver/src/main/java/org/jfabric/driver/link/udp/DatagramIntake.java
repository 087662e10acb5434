package org.jfabric.driver.link.udp;

import org.jfabric.driver.link.support.DatagramSources;

/** Receives datagrams in another way than {@link UdpReader}. Owner: progress agent. */
interface DatagramIntake {
    /** Whether some wait for a receive. */
    boolean areWaiting();

    /**
     * Delivers what is there.
     *
     * @param flags of the messages.
     * @param limit greatest number of datagrams.
     */
    int receive(UdpPort port, DatagramSources sources, UdpChannel unknownSenders, long flags, int limit);
}
