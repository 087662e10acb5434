/** Completion queues: chapter CQ of the requirement rows. */
package org.jfabric.driver.conformance.queue;
