package org.jfabric.driver.qualify;

/**
 * What a host is asked to start for a step. All that comes from the network is one of these, or refused: names of
 * programs and kinds, and numbers within limits.
 *
 * @param sizeBytes of the messages; 0 for the usual ones.
 * @param count     of messages of a size.
 */
record Request(Part part, Exchange exchange, boolean isChecked, int sizeBytes, int count) {
    private static final int WORDS = 5;
    private static final int MOST_BYTES = 1 << 22;
    private static final int MOST_MESSAGES = 10_000_000;

    /** The program that a host has a side of. */
    enum Part {
        OURS, THEIRS, IB_SEND_LAT, IB_WRITE_LAT, PEER, STREAM
    }

    static Request parse(String text) {
        String[] words = text.split(" ", -1);
        if (words.length != WORDS || !words[2].matches("true|false")) {
            throw new IllegalArgumentException("no request: " + text);
        }
        return new Request(Part.valueOf(words[0]), Exchange.valueOf(words[1]), Boolean.parseBoolean(words[2]),
            number(words[3], 0, MOST_BYTES), number(words[4], 1, MOST_MESSAGES));
    }

    private static int number(String word, int least, int most) {
        int value = Integer.parseInt(word);
        if (value < least || value > most) {
            throw new IllegalArgumentException(word + " is not from " + least + " to " + most);
        }
        return value;
    }

    Request by(Part other) {
        return new Request(other, exchange, isChecked, sizeBytes, count);
    }

    @Override
    public String toString() {
        return part.name() + ' ' + exchange.name() + ' ' + isChecked + ' ' + sizeBytes + ' ' + count;
    }
}
