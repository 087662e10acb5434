/**
 * The log of a driver's rare events. Nothing here is called for a message.
 */
package org.jfabric.driver.log;
