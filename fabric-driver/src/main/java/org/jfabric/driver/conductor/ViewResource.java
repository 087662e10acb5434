package org.jfabric.driver.conductor;

import org.jfabric.driver.engine.QueueView;
import org.jfabric.driver.resource.SharedFile;

/**
 * A view of an endpoint's queues that a client has opened. Owner: conductor; the view belongs to the progress thread.
 *
 * @param endpointId number of the endpoint, which may be another client's and may be closed.
 */
record ViewResource(long id, long endpointId, int thread, QueueView view, SharedFile file) {
}
