/**
 * Keys, certificates and sessions of links that are encrypted.
 */
package org.jfabric.driver.tls;
