/**
 * The rare events of a driver: one place to report them to, and where they go. Nothing here is called for a message.
 */
package org.jfabric.driver.log;
