/** Triggered operations and deferred work: the rows of fi_trigger(3). */
package org.jfabric.driver.conformance.trigger;
