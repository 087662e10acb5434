package org.jfabric.driver.link;

import org.jfabric.info.FabricException;

/** Takes the result of {@link Link#expose}: one call of one method. Owner: progress agent. */
public interface ExposureHandler {
    /**
     * Peers can access the region.
     *
     * @param address of the region's first byte under that key.
     */
    void onExposed(long key, long address);

    /**
     * The card does not take the region.
     *
     * @param cause with errno, values and remedy.
     */
    void onFailed(FabricException cause);
}
