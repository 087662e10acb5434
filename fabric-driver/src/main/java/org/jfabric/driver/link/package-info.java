/**
 * The SPI between the engine and the links: operations on a {@link org.jfabric.driver.link.Channel} to one peer.
 */
package org.jfabric.driver.link;
