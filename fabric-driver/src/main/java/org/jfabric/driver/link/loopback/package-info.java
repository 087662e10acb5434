/**
 * The link between endpoints of one driver: no wire, one copy between regions.
 */
package org.jfabric.driver.link.loopback;
