/** Tagged messages: chapter TAG of the requirement rows. */
package org.jfabric.driver.conformance.tagged;
