/** Endpoints: chapter EP of the requirement rows. */
package org.jfabric.driver.conformance.endpoint;
