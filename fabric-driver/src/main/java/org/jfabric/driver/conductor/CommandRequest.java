package org.jfabric.driver.conductor;

/**
 * Whose command it is.
 *
 * @param correlationId the answer repeats it.
 */
record CommandRequest(ConductorContext context, Registry registry, ClientSession session, long correlationId) {
}
