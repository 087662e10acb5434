/** Completion levels and the fence: chapter CL of the requirement rows. */
package org.jfabric.driver.conformance.level;
