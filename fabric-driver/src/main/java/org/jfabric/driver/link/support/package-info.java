/**
 * What links share beyond the SPI: the connections that protocols above links use.
 */
package org.jfabric.driver.link.support;
