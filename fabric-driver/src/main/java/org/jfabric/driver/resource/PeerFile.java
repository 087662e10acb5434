package org.jfabric.driver.resource;

import org.jfabric.ffi.MappedFile;
import org.jfabric.ffi.NativeCallException;
import org.jfabric.info.FabricErrno;
import org.jfabric.info.FabricException;
import org.jfabric.layout.FileHeaderDescriptor;
import org.jfabric.layout.FileType;
import org.jfabric.layout.OwnerId;

/** What is checked of a file that another driver has made. */
public final class PeerFile {
    private PeerFile() {
    }

    /** Checks the header of a peer's file. */
    public static void verify(MappedFile file, FileType type, OwnerId owner, String driverName, String name) {
        var header = file.directBuffer(0, FileHeaderDescriptor.HEADER_LENGTH);
        String wrong = FileHeaderDescriptor.verify(header, type);
        if (wrong != null) {
            file.close();
            throw new FabricException(FabricErrno.EIO, "file " + name + " of driver " + driverName + ": " + wrong);
        }
        OwnerId seen = new OwnerId(
            header.getLong(FileHeaderDescriptor.OWNER_HIGH_OFFSET),
            header.getLong(FileHeaderDescriptor.OWNER_LOW_OFFSET));
        if (!seen.equals(owner)) {
            file.close();
            // a driver that starts in the directory of one that has ended gives its files the same names
            throw new FabricException(FabricErrno.ECONNRESET,
                "file " + name + " of driver " + driverName + ": the file belongs to driver " + seen + ", expected "
                    + owner + ", which has ended meanwhile",
                "The endpoints of the driver that is there now can be reached by the next send.");
        }
    }

    /** The fabric errno of an exception. */
    public static int errnoOf(Throwable cause) {
        if (cause instanceof FabricException fabric) {
            return fabric.errno();
        }
        if (cause instanceof NativeCallException call) {
            return call.errno();
        }
        return FabricErrno.EIO;
    }
}
