package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.SharedFile;

/**
 * A registered region of a client. Owner: conductor; each copy belongs to its progress thread.
 *
 * @param copies the mapped region, by number of the progress thread that uses it.
 * @param file   its memory, which is deleted with it; null for a persistent region and memory of the embedding process.
 */
record RegionResource(int index, RegisteredRegion[] copies, SharedFile file) {

    /** The region as one progress thread uses it; all copies have the same memory, number and generation. */
    RegisteredRegion copy(int thread) {
        return copies[thread];
    }
}
