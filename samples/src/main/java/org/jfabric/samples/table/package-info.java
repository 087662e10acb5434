/** A table: the newest price of each instrument. */
package org.jfabric.samples.table;
