/** What a driver and its clients must survive: garbage, cut files, full disks, killed and stopped processes. */
package org.jfabric.driver.hostile;
