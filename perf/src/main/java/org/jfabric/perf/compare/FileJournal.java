package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/** A file to which each message is written by a system call, and is synced by another one ({@code fdatasync}). */
final class FileJournal implements Journal {
    private final SideSettings settings;
    private final ByteBuffer message;
    private FileChannel channel;
    private boolean synced;

    FileJournal(SideSettings settings) {
        this.settings = settings;
        message = ByteBuffer.allocateDirect(settings.sizeBytes());
    }

    @Override
    public void renew(boolean newSynced) {
        synced = newSynced;
        try {
            if (channel != null) {
                channel.close();
            }
            Files.createDirectories(settings.onDisk());
            channel = FileChannel.open(settings.onDisk().resolve("log"), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void write() {
        try {
            message.clear();
            channel.write(message);
            if (synced) {
                channel.force(false);
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void await() {
        // each write has waited
    }

    @Override
    public void rewind() {
        throw new UnsupportedOperationException("The file is not read.");
    }

    @Override
    public int read(int most) {
        throw new UnsupportedOperationException("The file is not read.");
    }

    @Override
    public void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
