package org.jfabric.driver.conductor;

import org.jfabric.driver.resource.RegisteredRegion;
import org.jfabric.driver.resource.SharedFile;

/**
 * A registered region of a client. Owner: conductor; the region belongs to the progress thread.
 *
 * @param index  its index in the client's addresses, by which it is closed.
 * @param region the mapped region.
 * @param file   its memory, which is deleted with it; null for a persistent region and memory of the embedding process.
 */
record RegionResource(int index, RegisteredRegion region, SharedFile file) {
}
