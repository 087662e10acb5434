package org.jfabric.driver.progress;

import org.jfabric.client.AtomicAccess;
import org.jfabric.driver.engine.AtomicExecutor;
import org.jfabric.info.Flags;
import org.jfabric.layout.AtomicForm;
import org.jfabric.layout.VectorRequestDescriptor;

/** What stands behind the head of a request for an atomic operation, posted or deferred. Every field is read once. */
final class AtomicOperands {
    private static final long KINDS = Flags.RMA | Flags.ATOMIC | Flags.MSG | Flags.TAGGED;
    private static final long DIRECTIONS = Flags.READ | Flags.WRITE;

    private AtomicOperands() {
    }

    /**
     * Checks a head, and takes the operands or the pieces behind it.
     *
     * @param access with the fields of the head, also its numbers of pieces, which are 0 afterwards if it is injected.
     * @param behind address behind the head.
     * @return false if the record does not fit its contents, or names no operation that exists.
     */
    static boolean take(AtomicAccess access, long behind, int bytes) {
        int size = AtomicExecutor.sizeBytes(access.form, access.datatype, access.operation);
        long direction = access.form == AtomicForm.BASE ? Flags.WRITE : Flags.READ;
        if (size == 0 || access.count < 0 || access.count > AtomicForm.MAX_BYTES / size
            || (access.flags & KINDS) != Flags.ATOMIC || (access.flags & DIRECTIONS) != direction) {
            return false;
        }
        if ((access.flags & Flags.INJECT) != 0) {
            access.injected = behind;
            access.operandPieces = 0;
            access.resultPieces = 0;
            access.comparePieces = 0;
            return bytes == access.count * size && access.form == AtomicForm.BASE;
        }
        int most = VectorRequestDescriptor.MAX_PIECES;
        int all = access.operandPieces + access.resultPieces + access.comparePieces;
        if (access.operandPieces > most || access.resultPieces > most || access.comparePieces > most
            || bytes != all * VectorRequestDescriptor.PIECE_LENGTH) {
            return false;
        }
        long next = VectorRequests.takePieces(behind, access.operands, access.operandPieces);
        next = VectorRequests.takePieces(next, access.results, access.resultPieces);
        VectorRequests.takePieces(next, access.compares, access.comparePieces);
        return true;
    }
}
