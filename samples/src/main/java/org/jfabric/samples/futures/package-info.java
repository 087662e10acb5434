/** Transfers as futures. */
package org.jfabric.samples.futures;
