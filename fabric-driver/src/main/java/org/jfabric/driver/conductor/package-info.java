/**
 * The agent that owns administration: clients, their connections, commands and lifetimes.
 */
package org.jfabric.driver.conductor;
