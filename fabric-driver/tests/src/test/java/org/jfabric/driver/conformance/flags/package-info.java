/** Operation flags: chapter OPF of the requirement rows. */
package org.jfabric.driver.conformance.flags;
