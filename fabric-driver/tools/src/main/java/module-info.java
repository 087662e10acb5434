/**
 * The operators' commands, those of the daemon among them. Nothing of them is for applications.
 */
@SuppressWarnings("requires-automatic")
module org.jfabric.tools {
    requires org.jfabric.driver;
    requires org.agrona;
    requires org.jfabric.codecs;
    requires java.management;
    requires info.picocli;
    requires HdrHistogram;
    requires org.jline.terminal;

    opens org.jfabric.tool to info.picocli;
    opens org.jfabric.tool.watch to info.picocli;

    uses org.jfabric.tool.ToolCommand;
    provides org.jfabric.tool.ToolCommand
        with org.jfabric.tool.watch.TopCommand, org.jfabric.tool.watch.WebCommand;
}
