/**
 * Remote endpoints: channel, order, credit, failure; address vectors.
 */
package org.jfabric.driver.engine.peer;
