package org.jfabric.driver.link;

import java.util.List;

/**
 * The links of an artifact that is joined to the driver, which finds it by {@link java.util.ServiceLoader} when it
 * chooses its links.
 */
public interface LinkSource {
    /**
     * Makes the providers of its links.
     *
     * @param others those of the driver and of all other artifacts that stand on none themselves.
     * @return providers without state; empty if the links that they would stand on are absent.
     */
    List<LinkProvider> links(List<LinkProvider> others);

    /** Whether its links stand on others', so that these have to be there first. */
    default boolean standsOnOthers() {
        return false;
    }
}
