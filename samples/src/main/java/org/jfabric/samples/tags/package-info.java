/** Receives that choose their messages by tag. */
package org.jfabric.samples.tags;
