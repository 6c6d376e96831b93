"use strict";
/* Lines over rounds, forest plots and matrices as SVG. Colours are variables of the style sheet: a theme needs no new drawing. */
const charts = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const DIGIT = 6.7; // pixels of a character at 12 px
  const HEIGHT = 218;
  const FEW_POINTS = 30;
  const NARROW_CELL = 21; // pixels; a narrower cell has no room for a number such as .97
  const MOST_ROWS = 24; // of a matrix that have room for numbers
  const FEWEST_TICKS = 3; // of an upright axis: fewer do not tell how it is divided
  const MOST_TIP_ROWS = 12; // lines of a tip
  const PANEL = 250; // pixels of a small multiple, at least
  const hidden = new WeakMap(); // chart -> entries of its legend that are switched off

  const make = (parent, name, attributes = {}, text) => {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return parent.appendChild(made);
  };
  const shade = (colour) => (colour < 0 ? "var(--ink)" : `var(--c${colour % 12})`);
  const width = (text) => [...text].reduce((sum, char) => sum + (char > "\u2e80" ? 12 : DIGIT), 0);
  const cut = (text, room) => {
    if (width(text) <= room) return text;
    const kept = Math.max(2, Math.floor((room * text.length) / width(text)) - 2); // what sets names apart is often at their end
    return `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
  };

  const written = (value) => {
    const size = Math.abs(value);
    if (size === 0 || (size >= 1e-3 && size < 1000)) return Number.isInteger(value) ? String(value) : value.toFixed(3);
    return size >= 1000 && size < 1e7 ? Math.round(value).toLocaleString("en") : value.toExponential(2);
  };
  const trimmed = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text); // 0.050 as 0.05, and 10 as 10
  const power = (n) => `10${[...String(n)].map((char) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(char)]).join("")}`;
  const decade = (n) => (n >= -2 && n <= 3 ? String(10 ** n).replace("1000", "1,000") : power(n));

  const steps = (low, high, most) => {
    const rough = (high - low) / Math.max(1, most) || 1;
    const unit = 10 ** Math.floor(Math.log10(rough));
    return unit * [1, 2, 5, 10].find((factor) => factor * unit >= rough * 0.999);
  };
  const linear = (low, high, from, to, most, whole = false) => {
    const step = Math.max(steps(low, high, most), whole ? 1 : 0);
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step || 0); // and never -0
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const label = (value) => (Math.abs(value) >= 1e6 ? written(value) : value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));
    const at = (value) => from + ((value - low) / (high - low || 1)) * (to - from);
    return { at, ticks: ticks.map((value) => [value, label(value)]) };
  };
  const divided = (low, high, from, to, most) => {
    const scale = linear(low, high, from, to, most);
    return scale.ticks.length >= FEWEST_TICKS || most > 64 ? scale : divided(low, high, from, to, most + 1);
  };
  const logarithmic = (low, high, from, to) => {
    const [first, last] = [Math.log10(low), Math.log10(high)];
    const at = (value) => from + ((Math.log10(value) - first) / (last - first || 1)) * (to - from);
    const seen = (ticks) => ticks.filter(([value]) => value >= low * 0.999 && value <= high * 1.001);
    const exponents = [];
    for (let n = Math.floor(first); n <= Math.ceil(last); n++) exponents.push(n);
    const stride = Math.max(1, Math.ceil((last - first) / 7));
    let ticks = last - first < 2 ? [] : seen(exponents.filter((n) => n % stride === 0).map((n) => [10 ** n, decade(n)]));
    if (ticks.length < FEWEST_TICKS) ticks = seen(exponents.flatMap((n) => [1, 2, 5].map((digit) => [digit * 10 ** n, within(digit, n)])));
    return { at, ticks: ticks.length < FEWEST_TICKS ? divided(low, high, from, to, 4).ticks : ticks }; // of values that lie close together
  };
  const within = (digit, n) => (n < -3 || n > 4 ? `${digit} · ${power(n)}` : trimmed(written(digit * 10 ** n))); // a tick within a decade

  const canvas = (chart, wide, high) => {
    chart.replaceChildren();
    const svg = make(chart, "svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, role: "img" });
    make(svg, "title", {}, chart.dataset.title);
    return svg;
  };
  const across = (svg, y, ticks, left, right) => {
    for (const [value, label] of ticks) {
      make(svg, "line", { class: "grid", x1: left, x2: right, y1: y(value), y2: y(value) });
      make(svg, "text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, label);
    }
  };
  const upright = (svg, x, ticks, top, bottom) => {
    for (const [value, label] of ticks) {
      make(svg, "line", { class: "grid", x1: x(value), x2: x(value), y1: top, y2: bottom });
      make(svg, "text", { class: "tick", x: x(value), y: bottom + 16, "text-anchor": "middle" }, label);
    }
  };

  /* Small multiples: the same axes in every panel, one line each, the others as a pale ground. */
  const curves = (figure, chart, wide) => {
    const several = figure.panels.length > 1;
    const across = several ? Math.max(1, Math.min(figure.panels.length, Math.floor(wide / PANEL))) : 1;
    const [each, high] = [wide / across, several ? HEIGHT - 46 : HEIGHT];
    const svg = canvas(chart, wide, high * Math.ceil(figure.panels.length / across));
    const panels = figure.panels.map((panel, i) => {
      const place = make(svg, "g", { transform: `translate(${(i % across) * each} ${Math.floor(i / across) * high})` });
      return drawPanel(figure, chart, place, panel.map((at) => figure.lines[at]), several ? each - 14 : each, high, several);
    });
    const at = (px, py) => Math.floor(py / high) * across + Math.min(across - 1, Math.floor(px / each));
    svg.read = (px, py) => {
      svg.leave();
      return panels[at(px, py)]?.read?.(px % each, py % high) ?? null;
    };
    svg.leave = () => panels.forEach((panel) => panel.leave?.());
    return svg;
  };
  const drawPanel = (figure, chart, svg, own, wide, height, several) => {
    const off = hidden.get(chart) ?? new Set();
    const lines = own.filter((line) => !off.has(line.entry));
    const ground = several ? figure.lines.filter((line) => !own.includes(line)) : [];
    const usable = (value) => value !== null && (!figure.log || value > 0);
    const values = [...lines, ...(several ? figure.lines : [])].flatMap((line) => [line.y, ...(line.band ?? [])].flatMap((side) => side.filter(usable)));
    const rounds = several ? figure.xs.flat() : lines.flatMap((line) => figure.xs[line.at]);
    if (!values.length || !rounds.length) return {};
    let [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    if (figure.log) [low, high] = [low / 1.25, high * 1.25];
    else {
      if (low >= 0 && low < 0.6 * high) low = 0;
      const room = (high - low || Math.abs(high) || 1) * 0.06;
      [low, high] = [low === 0 ? 0 : low - room, high + room];
    }
    const [top, bottom] = [24, height - (several ? 24 : 38)];
    const y = figure.log ? logarithmic(low, high, bottom, top) : divided(low, high, bottom, top, several ? 3 : 5);
    const [left, right] = [12 + Math.max(...y.ticks.map(([, label]) => width(label)), 14), wide - 10];
    const [first, last] = rounds.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    const x = linear(first, last === first ? first + 1 : last, left + 6, right - 6, Math.min(10, (right - left) / 44), true);
    across(svg, y.at, y.ticks, left, right);
    if (several) make(svg, "text", { class: "panel", x: left, y: 14, style: `fill:${shade(own[0].colour)}` }, cut(own[0].name, (right - left) / 1.15));
    else make(svg, "text", { class: "title", x: 0, y: 12 }, figure.y);
    for (const [value, label] of x.ticks) make(svg, "text", { class: "tick", x: x.at(value), y: bottom + 16, "text-anchor": "middle" }, label);
    if (!several) make(svg, "text", { class: "title", x: right, y: height - 4, "text-anchor": "end" }, figure.x);
    const path = (xs, ys) => {
      let [pen, drawn] = ["M", ""];
      ys.forEach((value, i) => {
        if (!usable(value)) return void (pen = "M");
        drawn += `${pen}${x.at(xs[i]).toFixed(1)} ${y.at(value).toFixed(1)}`;
        pen = "L";
      });
      return drawn;
    };
    for (const line of ground) make(svg, "path", { class: "ground", d: path(figure.xs[line.at], line.y) });
    for (const line of lines) if (line.band) {
      const xs = figure.xs[line.at];
      const edge = (side, order) => order(xs.map((at, i) => [at, side[i]]).filter(([, value]) => usable(value)));
      const around = [...edge(line.band[0], (points) => points), ...edge(line.band[1], (points) => points.reverse())];
      make(svg, "polygon", { class: "band", points: around.map(([at, value]) => `${x.at(at).toFixed(1)},${y.at(value).toFixed(1)}`).join(" "), style: `fill:${shade(line.colour)}` });
    }
    const labels = []; // [left, right, height] of remarks: they never cover each other
    for (const line of lines) {
      const group = make(svg, "g", { class: `trace ${line.style}`, style: `stroke:${shade(line.colour)};fill:${shade(line.colour)}` });
      const xs = figure.xs[line.at];
      const points = line.y.map((value, i) => [xs[i], value]).filter(([, value]) => usable(value));
      if (line.style === "marks") {
        for (const [at, value] of points) make(group, "path", { d: `M${x.at(at)} ${y.at(value) - 7}l7 7l-7 7l-7 -7z` });
        continue;
      }
      make(group, "path", { d: path(xs, line.y) });
      if (points.length === 1 || (line.style === "solid" && points.length <= FEW_POINTS))
        for (const [at, value] of points) make(group, "circle", { cx: x.at(at).toFixed(1), cy: y.at(value).toFixed(1), r: 2.4 });
      for (const [at, value, text] of line.remarks ?? []) {
        const end = x.at(at) > (left + right) / 2;
        make(group, "circle", { cx: x.at(at), cy: y.at(value), r: 3.6 });
        const [from, to] = end ? [x.at(at) + 4 - width(text), x.at(at) + 4] : [x.at(at) - 4, x.at(at) - 4 + width(text)];
        const free = (high) => high > top + 6 && high < bottom && !labels.some(([a, b, other]) => a < to && b > from && Math.abs(other - high) < 13);
        const high = [-8, 16, -21, 29].map((shift) => y.at(value) + shift).find(free) ?? y.at(value) - 8;
        labels.push([from, to, high]);
        make(svg, "text", { class: "remark", x: x.at(at) + (end ? 4 : -4), y: high, "text-anchor": end ? "end" : "start" }, text);
      }
    }
    const guide = make(svg, "line", { class: "guide", y1: top, y2: bottom, visibility: "hidden" });
    const read = (px, py) => {
      const at = [...new Set(rounds)].reduce((best, value) => (Math.abs(x.at(value) - px) < Math.abs(x.at(best) - px) ? value : best));
      const rows = lines
        .map((line) => [line, line.y[figure.xs[line.at].indexOf(at)]])
        .filter(([, value]) => value !== undefined && usable(value))
        .sort(([, a], [, b]) => Math.abs(y.at(a) - py) - Math.abs(y.at(b) - py))
        .slice(0, MOST_TIP_ROWS)
        .sort(([, a], [, b]) => b - a);
      for (const end of ["x1", "x2"]) guide.setAttribute(end, x.at(at));
      guide.setAttribute("visibility", "visible");
      return [`${figure.x} ${at}`, rows.map(([line, value]) => [line.colour, line.name, written(value)])];
    };
    return { read, leave: () => guide.setAttribute("visibility", "hidden") };
  };

  const dots = (figure, chart, wide) => {
    const off = hidden.get(chart) ?? new Set();
    const series = figure.series.filter((one) => !off.has(one.name));
    const room = Math.max(24, 13 * series.length + 8);
    const high = 46 + room * figure.names.length;
    const known = series.flatMap((one) => [...one.values, ...one.intervals.flat(), ...one.seeds.flat()]).concat(figure.level?.[1] ?? []).filter((value) => typeof value === "number");
    const [least, most] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
    const margin = (most - least || 1) * 0.04;
    const svg = canvas(chart, wide, high);
    const [left, top, bottom, right] = [Math.min(wide * 0.45, 14 + Math.max(...figure.names.map(width))), 2, high - 38, wide - 12];
    const scale = divided(Math.max(0, least - margin), most > 0.97 ? 1 : most + margin, left, right, wide / 90);
    upright(svg, scale.at, scale.ticks, top, bottom);
    make(svg, "text", { class: "title", x: right, y: high - 4, "text-anchor": "end" }, figure.value);
    if (figure.level) make(svg, "line", { class: "level", x1: scale.at(figure.level[1]), x2: scale.at(figure.level[1]), y1: top, y2: bottom });
    figure.names.forEach((name, i) => {
      const begins = top + i * room;
      make(svg, "text", { class: "name", x: left - 10, y: begins + room / 2 + 4, "text-anchor": "end" }, cut(name, left - 12));
      series.forEach((one, j) => {
        const value = one.values[i];
        if (value === null || value === undefined) return;
        const centre = begins + ((j + 0.5) * room) / series.length;
        const group = make(svg, "g", { style: `stroke:${shade(figure.colours.length ? figure.colours[i] : one.colour)};fill:${shade(figure.colours.length ? figure.colours[i] : one.colour)}` });
        const ends = one.intervals[i]?.map(scale.at);
        if (ends) make(group, "path", { class: "interval", d: `M${ends[0]} ${centre}H${ends[1]}M${ends[0]} ${centre - 3}v6M${ends[1]} ${centre - 3}v6` });
        const seeds = one.seeds[i] ?? [];
        if (seeds.length > 1) for (const seed of seeds) make(group, "circle", { class: "ring", cx: scale.at(seed), cy: centre, r: 2.4 });
        make(group, "circle", { class: "mean", cx: scale.at(value), cy: centre, r: 4.2, stroke: "none" });
      });
    });
    svg.read = (px, py) => {
      const i = Math.floor((py - top) / room);
      if (!(i in figure.names)) return null;
      const rows = series.filter((one) => typeof one.values[i] === "number").map((one) => [figure.colours[i] ?? one.colour, one.name, range(one, i)]);
      if (figure.level) rows.push([-1, figure.level[0], written(figure.level[1])]);
      return [figure.names[i], rows];
    };
    return svg;
  };
  const range = (one, i) => `${written(one.values[i])}${one.intervals[i] ? ` (${one.intervals[i].map(written).join(" to ")})` : ""}`;

  const heat = (figure, chart, wide) => {
    const highest = Math.max(0, ...figure.values.flat().map((value) => value ?? 0));
    const share = !figure.whole && highest <= 1;
    const full = share ? 1 : highest || 1; // a share of .50 has the same colour in every figure
    const named = Math.min(wide * 0.34, 14 + Math.max(...figure.rows.map(width)));
    const cell = (wide - named - 2) / Math.max(1, figure.columns.length);
    const longest = Math.max(0, ...figure.columns.map(width));
    const tilted = longest > cell - 4;
    const foot = tilted ? Math.min(90, longest * 0.72 + 14) + 14 : 34;
    const many = figure.rows.length > MOST_ROWS;
    const row = many ? (11 * MOST_ROWS) / figure.rows.length : Math.max(17, Math.min(24, 210 / Math.max(1, figure.rows.length)));
    const [top, high] = [18, 18 + row * figure.rows.length + foot];
    const svg = canvas(chart, wide, high);
    make(svg, "text", { class: "title", x: 0, y: 12 }, figure.y);
    make(svg, "text", { class: "title", x: wide - 2, y: high - 3, "text-anchor": "end" }, figure.x);
    const named_rows = Math.ceil(17 / row); // of many rows some have a name, and the pointer tells the rest
    figure.rows.forEach((name, i) => i % named_rows || make(svg, "text", { class: "name", x: named - 7, y: top + row * (i + 0.5) + 4, "text-anchor": "end" }, cut(name, named - 8)));
    const each = Math.max(1, Math.ceil(13 / cell)); // names that would lie on each other are left out
    figure.columns.forEach((name, j) => {
      if (j % each) return;
      const [x, y] = [named + cell * (j + 0.5), top + row * figure.rows.length + 14];
      const turned = tilted ? { "text-anchor": "end", transform: `rotate(-45 ${x} ${y - 4})` } : { "text-anchor": "middle" };
      make(svg, "text", { class: "name", x, y, ...turned }, cut(name, tilted ? 100 : cell));
    });
    const text = (value) => (figure.whole ? value.toLocaleString("en") : value.toFixed(2).replace(/^0/, "").replace(/^1\.00$/, "1.0")); // as wide as .97
    if (!share) make(svg, "text", { class: "title", x: wide - 2, y: 12, "text-anchor": "end" }, `full colour: ${written(full)}`);
    figure.values.forEach((line, i) =>
      line.forEach((value, j) => {
        const strength = (value ?? 0) / full;
        make(svg, "rect", { class: "cell", x: named + cell * j + 0.5, y: top + row * i + 0.5, width: Math.max(cell - 1, 0.5), height: many ? row : row - 1, style: `fill-opacity:${strength.toFixed(3)}${many ? ";stroke:none" : ""}` });
        if (value && !many && cell >= Math.max(NARROW_CELL, figure.whole ? width(text(value)) * 0.85 : 0))
          make(svg, "text", { class: "value", style: `--strength:${strength.toFixed(3)}`, x: named + cell * (j + 0.5), y: top + row * (i + 0.5) + 4, "text-anchor": "middle" }, text(value));
      }),
    );
    svg.read = (px, py) => {
      const [i, j] = [Math.floor((py - top) / row), Math.floor((px - named) / cell)];
      const value = figure.values[i]?.[j];
      if (value === undefined) return null;
      return [`${figure.y} ${figure.rows[i]}`.trim(), [[null, `${figure.x} ${figure.columns[j]}`.trim(), value === null ? "–" : written(value)]]];
    };
    return svg;
  };

  const KINDS = { curves, dots, heat };
  /* Entries of a legend; a forest plot of one series and small multiples name what they show. */
  const entries = (figure) => {
    const found = new Map();
    if (figure.kind === "curves" && figure.panels.length === 1) for (const line of figure.lines) line.colour < 0 || found.has(line.entry) || found.set(line.entry, line);
    if (figure.kind === "dots" && !figure.colours.length) for (const one of figure.series) found.set(one.name, { colour: one.colour, style: "bar" });
    return found.size > 1 ? found : new Map();
  };
  /* One legend for all charts with the same entries: it switches them everywhere. */
  const legend = (figure, place, mine, redraw) => {
    for (const [entry, look] of entries(figure)) {
      const button = place.appendChild(document.createElement("button"));
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const key = make(button, "svg", { width: 22, height: 10, "aria-hidden": "true", class: `key ${look.style}`, style: `stroke:${shade(look.colour)};fill:${shade(look.colour)}` });
      if (look.style === "bar") make(key, "circle", { cx: 11, cy: 5, r: 4.5 });
      else make(key, "path", { d: look.style === "marks" ? "M11 0l5 5l-5 5l-5 -5z" : "M0 5H22" });
      button.append(entry);
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") === "false";
        button.setAttribute("aria-pressed", String(on));
        for (const chart of mine()) {
          const off = hidden.get(chart) ?? new Set();
          if (on) off.delete(entry);
          else off.add(entry);
          hidden.set(chart, off);
        }
        redraw();
      });
    }
  };
  return { draw: (figure, chart, wide) => KINDS[figure.kind](figure, chart, wide), entries, legend, shade };
})();
