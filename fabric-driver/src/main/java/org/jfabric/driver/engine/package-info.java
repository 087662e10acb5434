/**
 * Reliable-datagram semantics, independent of any link: endpoints, matching, credit, protocols, completions.
 *
 * <p>Everything here belongs to the progress agent; there is no lock and no shared state but the queues' ends.
 */
package org.jfabric.driver.engine;
