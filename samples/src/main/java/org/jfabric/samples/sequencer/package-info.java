/** A sequencer: one order for the messages of several senders, each once, whoever is killed. */
package org.jfabric.samples.sequencer;
