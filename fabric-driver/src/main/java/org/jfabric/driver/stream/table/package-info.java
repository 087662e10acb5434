/**
 * Tables of newest values: which there are and who has them open, and the waking of those who wait for a change.
 */
package org.jfabric.driver.stream.table;
