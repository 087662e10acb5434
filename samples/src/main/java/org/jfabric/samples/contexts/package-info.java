/** One address with several receive contexts. */
package org.jfabric.samples.contexts;
