package org.jfabric.driver.link.shm;

import org.jfabric.driver.resource.ResourceTask;
import org.jfabric.ffi.MappedFile;

/** Unmaps a file that nothing uses. */
final class ShmUnmapTask extends ResourceTask {
    private final MappedFile file;

    ShmUnmapTask(MappedFile file) {
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
