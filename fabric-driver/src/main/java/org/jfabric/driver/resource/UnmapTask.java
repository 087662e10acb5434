package org.jfabric.driver.resource;

import org.jfabric.ffi.MappedFile;

/** Unmaps a file that nothing uses. */
public final class UnmapTask extends ResourceTask {
    private final MappedFile file;

    /** A task for one mapping. */
    public UnmapTask(MappedFile file) {
        this.file = file;
    }

    @Override
    protected void execute() {
        file.close();
    }

    @Override
    protected void onDone() {
        // nothing waits for it
    }

    @Override
    protected void onFailed(Throwable cause) {
        // munmap of a whole mapping does not fail
    }
}
