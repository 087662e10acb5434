/**
 * Writing of completion queues.
 */
package org.jfabric.driver.engine.complete;
