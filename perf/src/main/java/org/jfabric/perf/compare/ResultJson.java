package org.jfabric.perf.compare;

import java.util.List;
import java.util.Map;
import org.jfabric.tool.JsonWriter;

/** A run as one JSON object on one line; the names are what programs rely on. */
final class ResultJson {
    private static final int RATIO_DECIMALS = 3;

    private ResultJson() {
    }

    static String write(Comparison run, boolean readings) {
        JsonWriter json = new JsonWriter().beginObject();
        json.name("environment").beginObject();
        for (Map.Entry<String, String> each : run.environment().entrySet()) {
            json.member(each.getKey(), each.getValue());
        }
        json.member("rounds", run.results().rounds()).endObject();
        json.name("results").beginArray();
        for (Results.Line line : run.results().lines()) {
            write(json, line, readings);
        }
        json.endArray().name("sideBySide").beginArray();
        SideBySide.of(run.results()).forEach(group -> write(json, group));
        json.endArray().name("targets").beginArray();
        for (Target.Verdict verdict : run.verdicts()) {
            write(json, verdict, MissReason.of(run, verdict));
        }
        json.endArray().name("profiles").beginArray();
        for (Comparison.SideProfile each : run.profiles()) {
            write(json, each);
        }
        json.endArray();
        json.name("garbageCollections").beginObject()
            .member("messages", run.streamed()).member("collections", run.collections()).endObject();
        json.member("messagesCompared", run.verified());
        texts(json, "missing", run.missing());
        texts(json, "notes", run.notes());
        return json.endObject().toString();
    }

    private static void write(JsonWriter json, Results.Line line, boolean readings) {
        json.beginObject()
            .member("system", line.cell().system())
            .member("metric", line.metric().key())
            .member("sizeBytes", line.cell().sizeBytes())
            .member("median", line.values().median())
            .member("firstQuartile", line.values().first())
            .member("thirdQuartile", line.values().third())
            .member("unit", line.metric().unit())
            .name("medianInHandOvers").value(line.inHandOvers(), RATIO_DECIMALS)
            .member("rounds", line.rounds().size())
            .member("validRounds", line.valid());
        if (readings) {
            json.name("readings").beginArray();
            for (Results.Round round : line.rounds()) {
                HandOvers around = round.handOvers();
                json.beginObject().member("value", round.value(line.cell(), line.metric()))
                    .member("valid", round.isValid(line.metric()))
                    .member("leastHandOverNs", around == null ? Double.NaN : around.least().ns())
                    .member("mostHandOverNs", around == null ? Double.NaN : around.most().ns())
                    .name("waited").value(round.readings().get(line.cell()).waited(), RATIO_DECIMALS).endObject();
            }
            json.endArray();
        }
        json.endObject();
    }

    private static void write(JsonWriter json, SideBySide.Group group) {
        json.beginObject()
            .member("metric", group.metric().key())
            .member("sizeBytes", group.sizeBytes())
            .member("unit", group.metric().unit())
            .member("rounds", group.rounds())
            .member("validRounds", group.validRounds())
            .name("systems").beginArray();
        group.values().forEach((system, values) -> json.beginObject()
            .member("system", system)
            .member("median", values.median())
            .member("firstQuartile", values.first())
            .member("thirdQuartile", values.third()).endObject());
        json.endArray().endObject();
    }

    private static void write(JsonWriter json, Comparison.SideProfile side) {
        json.beginObject()
            .member("cell", side.cell().toString())
            .member("side", side.doing())
            .member("nsPerMessage", side.nsPerMessage())
            .member("samples", side.profile().total())
            .name("parts").beginArray();
        for (Profile.Part part : side.profile().parts()) {
            json.beginObject().member("part", part.name()).name("share").value(part.share(), RATIO_DECIMALS)
                .endObject();
        }
        json.endArray().endObject();
    }

    private static void write(JsonWriter json, Target.Verdict verdict, String reason) {
        Target target = verdict.target();
        json.beginObject()
            .member("what", target.what())
            .member("metric", target.metric().key())
            .member("verdict", verdict.outcome().key())
            .member("measured", verdict.measured())
            .name("ratio").value(verdict.ratio(), RATIO_DECIMALS)
            .name("firstQuartile").value(verdict.ratios().first(), RATIO_DECIMALS)
            .name("thirdQuartile").value(verdict.ratios().third(), RATIO_DECIMALS)
            .member("own", verdict.own())
            .member("other", verdict.other())
            .member("otherSystem", target.isRatio() ? target.references().getFirst().cell().system() : null)
            .name("least").value(target.least() > 0 ? target.least() : Double.NaN, RATIO_DECIMALS)
            .name("must").value(target.must() == Target.SHOWN ? Double.NaN : target.must(), RATIO_DECIMALS)
            .name("goal").value(target.goal(), RATIO_DECIMALS)
            .member("met", verdict.met())
            .member("goalMet", verdict.goalMet())
            .name("missedBy").value(verdict.missedBy(), RATIO_DECIMALS)
            .member("rounds", verdict.rounds())
            .member("validRounds", verdict.valid())
            .member("neededRounds", target.neededRounds())
            .member("unfit", target.unfit())
            .member("reason", reason).endObject();
    }

    private static void texts(JsonWriter json, String name, List<String> texts) {
        json.name(name).beginArray();
        texts.forEach(json::value);
        json.endArray();
    }
}
