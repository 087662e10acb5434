package org.jfabric.tool;

import org.jfabric.layout.FileHeaderDescriptor;

import picocli.CommandLine.IVersionProvider;

/** Output of {@code fabric --version}: the product, the layout of its files, the virtual machine. */
public final class ToolVersion implements IVersionProvider {
    /** Made by the command line. */
    public ToolVersion() {
    }

    @Override
    public String[] getVersion() {
        String version = FabricTool.class.getPackage().getImplementationVersion();
        return new String[] {
            "JFabric " + (version == null ? "(not from a jar)" : version),
            "shared files: layout " + FileHeaderDescriptor.VERSION,
            "java: " + System.getProperty("java.vm.name") + ' ' + System.getProperty("java.vm.version")
        };
    }
}
