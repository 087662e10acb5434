package org.jfabric.samples.evolution;

import org.agrona.DirectBuffer;
import org.jfabric.Destination;
import org.jfabric.Messenger;

/** A program that publishes and reads quotes by the codecs of one version of their schema. */
interface QuoteVersion {
    /** Tag of quotes. */
    long TAG = 2;

    /** Encodes a quote where the driver takes it from. Returns 0 or a negative errno. */
    int publish(Messenger feed, Destination desk);

    /** The quote at the begin of a buffer, as text. */
    String read(DirectBuffer buffer);
}
