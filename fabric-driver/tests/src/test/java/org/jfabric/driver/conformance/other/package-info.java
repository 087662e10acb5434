/**
 * What other pages define, such as counters, event queues, connections, datagrams and memory: chapter REF of the
 * requirement rows.
 */
package org.jfabric.driver.conformance.other;
