package org.jfabric.tool;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * An output that ends the command which writes when nothing can be written any more. A {@code PrintWriter} would hide
 * that: the status would be 0, and a command that watches would not end.
 */
final class CheckedOutput extends OutputStream {
    /** What a command does not handle: it ends. */
    static final class EndedException extends UncheckedIOException {
        private static final long serialVersionUID = 1;

        EndedException(IOException cause) {
            super(cause);
        }
    }

    private final OutputStream out;
    /** Nothing is written any more: what a writer still has would end the command once more. */
    private boolean isEnded;

    CheckedOutput(OutputStream out) {
        this.out = out;
    }

    @Override
    public void write(int octet) {
        write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        if (!isEnded) {
            try {
                out.write(bytes, offset, length);
            } catch (IOException ex) {
                isEnded = true;
                throw new EndedException(ex);
            }
        }
    }
}
