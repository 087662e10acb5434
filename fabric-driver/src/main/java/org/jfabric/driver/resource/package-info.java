/**
 * Registered memory and slow system work.
 */
package org.jfabric.driver.resource;
