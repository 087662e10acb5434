/** Market data from one writer to three hosts, of which one is late and one is slow. */
package org.jfabric.samples.market;
