/** A stream that behaves like a socket. */
package org.jfabric.samples.echo;
