/**
 * The link to other drivers of this user on this host: a pair of rings in shared memory, and single copy of large
 * payloads from the sender's region.
 */
package org.jfabric.driver.link.shm;
