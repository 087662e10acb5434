/** A market-data book that a publisher writes straight into its readers' memory. */
package org.jfabric.samples.book;
