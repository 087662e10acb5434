/** Attributes of transmit contexts: chapter TX of the requirement rows. */
package org.jfabric.driver.conformance.transmit;
