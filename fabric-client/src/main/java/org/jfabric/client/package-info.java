/**
 * Machinery of the client: queues, credit, connection to the driver. Not API.
 */
package org.jfabric.client;
