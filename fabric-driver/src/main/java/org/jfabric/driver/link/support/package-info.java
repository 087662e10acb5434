/**
 * Code that several links share: offers and verdicts of their providers, resolution of host names, datagram endpoints,
 * limits for unknown peers, and the connections that protocols above links use.
 */
package org.jfabric.driver.link.support;
