package org.jfabric.driver.conductor;

/**
 * A published name.
 *
 * @param name       last part of the address that peers insert.
 */
record Service(String name, long endpointId, String address) {
}
