"use strict";

/* Draws the plots of the page from its JSON, again when the width or the colors change. */
(function () {
    const data = JSON.parse(document.getElementById("plot-data").textContent);
    const place = document.getElementById("plots");
    const full = new Intl.NumberFormat("en", {maximumSignificantDigits: 6});
    const short = new Intl.NumberFormat("en", {notation: "compact", maximumSignificantDigits: 3});
    const FONT = "12px system-ui, sans-serif";
    const SYSTEM_COLORS = 8;
    const BASELINE_COLORS = 4;
    const CURVES_HEIGHT = 210;
    const ROW_HEIGHT = 36;

    function color(name) {
        return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    }

    /* A system has one color in all plots. Solid lines are JFabric's, dashed ones others', dotted ones baselines. */
    function styles() {
        const seen = {own: 0, peer: 0, baseline: 0};
        const dashes = {own: [], peer: [7, 4], baseline: [2, 3]};
        return data.systems.map(({kind}) => {
            const colors = kind === "baseline" ? BASELINE_COLORS : SYSTEM_COLORS;
            return {stroke: color(kind + "-" + seen[kind]++ % colors), dash: dashes[kind]};
        });
    }

    function axis(options) {
        return Object.assign({
            font: FONT, labelFont: FONT, labelSize: 18, labelGap: 0, stroke: color("text"),
            grid: {stroke: color("line"), width: 1}, ticks: {stroke: color("line"), width: 1, size: 4},
        }, options);
    }

    /* The texts of an axis; those without room are left out. */
    function fitting(plot, ticks) {
        let end = -Infinity;
        plot.ctx.font = FONT;
        return ticks.map(({at, text}) => {
            const half = plot.ctx.measureText(text).width / 2 + 3;
            const x = plot.valToPos(at, "x");
            const fits = x - half >= end;
            end = fits ? x + half : end;
            return fits ? text : null;
        });
    }

    function nearestText(plot, value, ticks, xLabel) {
        if (value === null || value === undefined) {
            return "";
        }
        const tick = ticks.find(({at}) => Math.abs(at - value) < 1e-3);
        const percent = 100 * (1 - Math.pow(10, -value));
        return (tick ? tick.text : percent.toFixed(Math.max(1, Math.ceil(value)))) + " " + xLabel;
    }

    /* All curves over the same positions; null where a curve has no point. */
    function aligned(curves) {
        const xs = [...new Set(curves.flatMap(({points}) => points.map(([x]) => x)))].sort((a, b) => a - b);
        return [xs, ...curves.map(({points}) => {
            const byX = new Map(points);
            return xs.map((x) => byX.get(x) ?? null);
        })];
    }

    /* Marks of a logarithmic axis around all values: 1, 2 and 5 of each power of ten, of many powers only 1. */
    function marks(min, max) {
        const digits = max / min > 2000 ? [1] : [1, 2, 5];
        const all = [];
        for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
            digits.forEach((digit) => all.push(Number(digit + "e" + power)));
        }
        const first = all.findLastIndex((mark) => mark <= min);
        const last = all.findIndex((mark, index) => mark >= max && index > first);
        return all.slice(first, last + 1);
    }

    function curves(plot, element, width, style) {
        const ends = [plot.ticks[0].at, plot.ticks[plot.ticks.length - 1].at];
        const margin = ends[0] === ends[1] ? 1 : 0.03 * (ends[1] - ends[0]);
        const values = plot.curves.flatMap(({points}) => points.map(([x, y]) => y));
        const yMarks = marks(Math.min(...values), Math.max(...values));
        const series = plot.curves.map((curve) => ({
            label: curve.name, ...style[curve.system], width: 2, spanGaps: true,
            points: {show: curve.points.length <= plot.ticks.length, size: 6, fill: style[curve.system].stroke},
            value: (self, value) => value === null || value === undefined ? "" : full.format(value),
        }));
        return new uPlot({
            width, height: CURVES_HEIGHT,
            scales: {
                x: {time: false, range: [ends[0] - margin, ends[1] + margin]},
                y: {distr: 3, range: [yMarks[0], yMarks[yMarks.length - 1]]},
            },
            axes: [
                axis({
                    size: 24, label: plot.xLabel, splits: () => plot.ticks.map(({at}) => at),
                    values: (self) => fitting(self, plot.ticks), filter: (self, splits) => splits,
                }),
                axis({
                    size: 44, label: plot.unit, splits: () => yMarks, filter: (self, splits) => splits,
                    values: () => yMarks.map((value) => short.format(value)),
                }),
            ],
            series: [
                {label: "\u00a0", value: (self, value) => nearestText(self, value, plot.ticks, plot.xLabel)},
                ...series,
            ],
            cursor: {y: false, drag: {x: false, y: false}},
        }, aligned(plot.curves), element);
    }

    /* Whiskers to the least and greatest round, a box around the middle half, the median, a dot for each round. */
    function drawRow(plot, row, index, style, unit) {
        const {ctx, bbox} = plot;
        const ratio = uPlot.pxRatio;
        const [min, low, median, high, max] = row.box.map((value) => plot.valToPos(value, "y", true));
        const middle = plot.valToPos(index, "x", true) + 8 * ratio;
        const half = 7 * ratio;
        ctx.strokeStyle = style.stroke;
        ctx.fillStyle = style.stroke;
        ctx.lineWidth = ratio;
        ctx.beginPath();
        for (const [from, to] of [[min, low], [high, max]]) {
            ctx.moveTo(from, middle);
            ctx.lineTo(to, middle);
        }
        for (const end of [min, max]) {
            ctx.moveTo(end, middle - half / 2);
            ctx.lineTo(end, middle + half / 2);
        }
        ctx.rect(low, middle - half, high - low, 2 * half);
        ctx.stroke();
        ctx.globalAlpha = 0.2;
        ctx.fillRect(low, middle - half, high - low, 2 * half);
        ctx.globalAlpha = 0.6;
        for (const {value, valid} of row.rounds) {
            ctx.beginPath();
            ctx.arc(plot.valToPos(value, "y", true), middle, 2 * ratio, 0, 2 * Math.PI);
            if (valid) {
                ctx.fill();
            } else {
                ctx.stroke();
            }
        }
        ctx.globalAlpha = 1;
        ctx.fillRect(median - ratio, middle - half, 2 * ratio, 2 * half);
        ctx.font = 12 * ratio + "px system-ui, sans-serif";
        ctx.fillStyle = color("text");
        ctx.textBaseline = "bottom";
        ctx.textAlign = "left";
        ctx.fillText(data.systems[row.system].id + "  " + short.format(row.box[2]) + " " + unit
            + (row.inHandOvers === null ? "" : " = " + short.format(row.inHandOvers) + " hand-overs"),
            bbox.left + 4 * ratio, middle - half - 2 * ratio);
    }

    function boxes(plot, element, width, style) {
        const last = plot.rows.length - 1;
        const greatest = Math.max(...plot.rows.flatMap(({rounds}) => rounds.map(({value}) => value)));
        return new uPlot({
            width, height: ROW_HEIGHT * plot.rows.length + 46,
            scales: {
                x: {time: false, ori: 1, dir: -1, range: [-0.5, last + 0.5]},
                y: {ori: 0, dir: 1, range: [0, 1.03 * greatest]},
            },
            axes: [
                axis({side: 3, show: false}),
                axis({
                    side: 2, size: 24, label: plot.unit, space: 50,
                    values: (self, splits) => splits.map((value) => short.format(value)),
                }),
            ],
            series: [{}, {paths: () => null, points: {show: false}}],
            padding: [0, 12, 0, 4],
            legend: {show: false},
            cursor: {show: false},
            hooks: {
                draw: [(self) => plot.rows.forEach((row, index) =>
                    drawRow(self, row, index, style[row.system], plot.unit))],
            },
        }, [plot.rows.map((row, index) => index), plot.rows.map(({box}) => box[2])], element);
    }

    function draw() {
        const style = styles();
        place.replaceChildren();
        for (const plot of data.plots) {
            const figure = document.createElement("figure");
            const caption = document.createElement("figcaption");
            caption.textContent = plot.title;
            figure.append(caption);
            if (plot.kind === "boxes") {
                /* Beside a tall plot there is room for several others. */
                const span = Math.floor(plot.rows.length * ROW_HEIGHT / CURVES_HEIGHT);
                figure.style.gridRow = "span " + Math.max(1, span);
            }
            place.append(figure);
        }
        /* The width is known when all figures have their places. */
        data.plots.forEach((plot, index) => {
            const figure = place.children[index];
            (plot.kind === "boxes" ? boxes : curves)(plot, figure, figure.clientWidth, style);
        });
    }

    let drawnWidth = 0;
    new ResizeObserver(() => {
        if (place.clientWidth !== drawnWidth) {
            drawnWidth = place.clientWidth;
            draw();
        }
    }).observe(place);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}());
