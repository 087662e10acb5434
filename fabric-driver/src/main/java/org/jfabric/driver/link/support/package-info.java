/**
 * What links share beyond the SPI: offers and verdicts of their providers, names of hosts, endpoints for datagrams,
 * bounds for unknown peers, and the connections that protocols above links use.
 */
package org.jfabric.driver.link.support;
