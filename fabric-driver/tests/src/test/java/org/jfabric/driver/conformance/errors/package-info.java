/** Return values and errors: chapter ERR of the requirement rows. */
package org.jfabric.driver.conformance.errors;
