/** Attributes of receive contexts: chapter RX of the requirement rows. */
package org.jfabric.driver.conformance.receive;
