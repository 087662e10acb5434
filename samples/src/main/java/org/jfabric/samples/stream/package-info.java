/** The program of {@code docs/tutorial-streams.md}: a recorded stream of quotes, and three kinds of readers. */
package org.jfabric.samples.stream;
