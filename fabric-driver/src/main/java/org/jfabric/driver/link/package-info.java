/**
 * The SPI between the engine and the links. A {@link org.jfabric.driver.link.LinkProvider} opens a
 * {@link org.jfabric.driver.link.Link}, which opens a {@link org.jfabric.driver.link.Channel} to each peer.
 */
package org.jfabric.driver.link;
