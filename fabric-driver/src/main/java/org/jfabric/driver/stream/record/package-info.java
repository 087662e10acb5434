/**
 * Groups on disk: what is recorded, and kept.
 */
package org.jfabric.driver.stream.record;
