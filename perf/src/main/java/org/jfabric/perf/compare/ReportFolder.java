package org.jfabric.perf.compare;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.jfabric.tool.ToolException;

/** The folder of a report: the page, the JSON objects without and with the rounds' values, the histograms. */
final class ReportFolder {
    private final Path folder;

    ReportFolder(Path folder) {
        this.folder = folder;
    }

    /** Writes all files; older ones of the same name are replaced. */
    Path write(Comparison run) {
        try {
            Files.createDirectories(folder);
            Files.writeString(folder.resolve("compare.json"), ResultJson.write(run, false) + '\n');
            Files.writeString(folder.resolve("readings.json"), ResultJson.write(run, true) + '\n');
            for (Cell cell : run.results().cells()) {
                Histogram histogram = run.results().histogram(cell);
                if (histogram != null) {
                    write(cell, histogram);
                }
            }
            Path page = folder.resolve("index.html");
            Files.writeString(page, ReportPage.write(run));
            return page.toAbsolutePath();
        } catch (IOException ex) {
            throw new ToolException("The report cannot be written into " + folder + ": " + ex + '.', ex);
        }
    }

    /** Once as tools read it, once as people do. */
    private void write(Cell cell, Histogram histogram) throws IOException {
        String name = cell.system() + '-' + cell.sizeBytes();
        try (PrintStream log = new PrintStream(
            Files.newOutputStream(folder.resolve(name + ".hlog")), false, StandardCharsets.UTF_8)) {
            HistogramLogWriter writer = new HistogramLogWriter(log);
            writer.outputComment("round trips in nanoseconds of " + cell + ", all rounds");
            writer.outputLogFormatVersion();
            writer.outputLegend();
            writer.outputIntervalHistogram(0, 1, histogram, 1);
        }
        try (PrintStream percentiles = new PrintStream(
            Files.newOutputStream(folder.resolve(name + ".hgrm")), false, StandardCharsets.UTF_8)) {
            histogram.outputPercentileDistribution(percentiles, 1.0);
        }
    }
}
