package org.jfabric.client;

import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;

/** The driver did not answer in time: whether it has done what was asked is not known, and its answer may come late. */
final class UnansweredException extends FabricException {
    private static final long serialVersionUID = 1L;

    UnansweredException(String text, String remedy) {
        super(FabricErrno.ETIMEDOUT, text, remedy);
    }
}
