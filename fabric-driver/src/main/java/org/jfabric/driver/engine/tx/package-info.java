/**
 * Posting, protocol choice and completion of sends.
 */
package org.jfabric.driver.engine.tx;
