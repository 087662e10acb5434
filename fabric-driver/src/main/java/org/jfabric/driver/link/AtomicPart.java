package org.jfabric.driver.link;

/**
 * What an atomic operation has besides the fields of every {@link TransmitOperation}; its operands are the payload.
 *
 * <p>Owner: progress agent.
 */
public final class AtomicPart {
    /** One of {@link org.jfabric.layout.AtomicForm}. */
    public int form;
    public int datatype;
    public int operation;
    public long count;
    /** Bytes of the old values; 0 if they do not come back. */
    public long resultBytes;
    /** Where the old values go. */
    public final PieceList results = new PieceList();
    /** The compare values. */
    public final PieceList compares = new PieceList();

    /** For the records of an endpoint with FI_ATOMIC. */
    public AtomicPart() {
    }
}
