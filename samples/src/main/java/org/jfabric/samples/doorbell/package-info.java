/** Orders that are written into a peer's memory, and an entry there for each. */
package org.jfabric.samples.doorbell;
