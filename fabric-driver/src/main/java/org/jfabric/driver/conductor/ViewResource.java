package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.QueueView;
import org.jfabric.driver.resource.SharedFile;

/**
 * A look at an endpoint's queues that a client asked for. Owner: conductor; the view belongs to the progress thread.
 *
 * @param id         its number.
 * @param endpointId number of the endpoint, which may be another client's and may be gone.
 * @param view       the engine's part.
 * @param file       the {@code .view} file.
 */
public record ViewResource(long id, long endpointId, QueueView view, SharedFile file) {
}
