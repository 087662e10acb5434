package org.jfabric.driver.link.rxm;

import org.jfabric.Flags;
import org.jfabric.driver.link.ChannelLimits;
import org.jfabric.layout.MemoryRegionDescriptor;
import org.jfabric.Order;

/** WIP. */
public final class RxmLinkProvider {
    static final ChannelLimits LIMITS = new ChannelLimits(
        0, 0, MemoryRegionDescriptor.MAX_LENGTH, Long.BYTES, Flags.INJECT_COMPLETE, Order.SAS, true);
}
