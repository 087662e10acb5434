package org.jfabric.driver.conductor;

/**
 * A published name.
 *
 * @param name       last part of the address that peers insert.
 * @param endpointId the endpoint that it names.
 * @param address    the endpoint's own address.
 */
record Service(String name, long endpointId, String address) {
}
