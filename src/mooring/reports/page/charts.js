"use strict";
/* Lines over rounds, bars and matrices as SVG. Colours are variables of the style sheet: a theme needs no new drawing. */
const charts = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const DIGIT = 6.7; // pixels of a character at 12 px
  const HEIGHT = 218;
  const FEW_POINTS = 30;
  const NARROW_CELL = 21; // pixels; a narrower cell has no room for a number such as .97
  const MOST_ROWS = 24; // of a matrix that have room for numbers
  const FEWEST_TICKS = 3; // of an upright axis: fewer do not tell how it is divided
  const MOST_TIP_ROWS = 12; // lines of a tip
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
    const attributes = { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true" };
    return make(chart, "svg", attributes);
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

  const curves = (figure, chart, wide) => {
    const off = hidden.get(chart) ?? new Set();
    const lines = figure.lines.filter((line) => !off.has(line.entry));
    const usable = (value) => value !== null && (!figure.log || value > 0);
    const values = lines.flatMap((line) => [line.y, ...(line.band ?? [])].flatMap((side) => side.filter(usable)));
    const rounds = figure.xs.flat();
    if (!values.length || !rounds.length) return canvas(chart, wide, HEIGHT);
    let [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    if (figure.log) [low, high] = [low / 1.25, high * 1.25];
    else {
      if (low >= 0 && low < 0.6 * high) low = 0;
      const room = (high - low || Math.abs(high) || 1) * 0.06;
      [low, high] = [low === 0 ? 0 : low - room, high + room];
    }
    const [top, bottom] = [24, HEIGHT - 38];
    const y = figure.log ? logarithmic(low, high, bottom, top) : divided(low, high, bottom, top, 5);
    const left = 12 + Math.max(...y.ticks.map(([, label]) => width(label)), 14);
    const right = wide - 10;
    const [first, last] = rounds.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    const x = linear(first, last === first ? first + 1 : last, left + 6, right - 6, Math.min(10, (right - left) / 44), true);
    const svg = canvas(chart, wide, HEIGHT);
    across(svg, y.at, y.ticks, left, right);
    make(svg, "text", { class: "title", x: 0, y: 12 }, figure.y);
    for (const [value, label] of x.ticks) make(svg, "text", { class: "tick", x: x.at(value), y: bottom + 16, "text-anchor": "middle" }, label);
    make(svg, "text", { class: "title", x: right, y: HEIGHT - 4, "text-anchor": "end" }, figure.x);
    const path = (xs, ys) => {
      let pen = "M";
      let drawn = "";
      ys.forEach((value, i) => {
        if (!usable(value)) return void (pen = "M");
        drawn += `${pen}${x.at(xs[i]).toFixed(1)} ${y.at(value).toFixed(1)}`;
        pen = "L";
      });
      return drawn;
    };
    for (const line of lines) if (line.band) {
      const xs = figure.xs[line.at];
      const edge = (side, order) => order(xs.map((at, i) => [at, side[i]]).filter(([, value]) => usable(value)));
      const around = [...edge(line.band[0], (points) => points), ...edge(line.band[1], (points) => points.reverse())];
      make(svg, "polygon", { class: "band", points: around.map(([at, value]) => `${x.at(at).toFixed(1)},${y.at(value).toFixed(1)}`).join(" "), style: `fill:${shade(line.colour)}` });
    }
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
    }
    const guide = make(svg, "line", { class: "guide", y1: top, y2: bottom, visibility: "hidden" });
    svg.read = (px, py) => {
      const at = [...new Set(rounds)].reduce((best, value) => (Math.abs(x.at(value) - px) < Math.abs(x.at(best) - px) ? value : best));
      const rows = lines
        .map((line) => [line, line.y[figure.xs[line.at].indexOf(at)]])
        .filter(([, value]) => value !== undefined && usable(value))
        .sort(([, a], [, b]) => Math.abs(y.at(a) - py) - Math.abs(y.at(b) - py))
        .slice(0, MOST_TIP_ROWS)
        .sort(([, a], [, b]) => b - a);
      guide.setAttribute("x1", x.at(at));
      guide.setAttribute("x2", x.at(at));
      guide.setAttribute("visibility", "visible");
      return [`${figure.x} ${at}`, rows.map(([line, value]) => [line.colour, line.name, written(value)])];
    };
    svg.leave = () => guide.setAttribute("visibility", "hidden");
    return svg;
  };

  const bars = (figure, chart, wide) => {
    const off = hidden.get(chart) ?? new Set();
    const series = figure.series.filter((one) => !off.has(one.name));
    const flat = figure.flat || wide < figure.names.length * 22;
    const slot = flat ? Math.max(22, 13 * series.length + 7) : 0;
    const high = flat ? 46 + slot * figure.names.length : HEIGHT;
    const highest = Math.max(0, ...series.flatMap((one) => [...one.values, ...one.whiskers.map((ends) => ends?.[1] ?? 0), ...one.dots.flat()]), figure.level?.[1] ?? 0);
    const end = highest <= 1 && highest > 0.7 ? 1 : highest * 1.05 || 1;
    const svg = canvas(chart, wide, high);
    const names = flat ? Math.min(wide * 0.5, 10 + Math.max(...figure.names.map(width))) : 44;
    const [top, bottom, right] = [flat ? 2 : 24, high - (flat ? 38 : 24), wide - 12];
    const scale = flat ? linear(0, end, names, right, wide / 90) : linear(0, end, bottom, top, 5);
    if (flat) upright(svg, scale.at, scale.ticks, top, bottom);
    else across(svg, scale.at, scale.ticks, names, right);
    make(svg, "text", { class: "title", x: flat ? right : 0, y: flat ? high - 4 : 12, "text-anchor": flat ? "end" : "start" }, figure.value);
    const room = flat ? slot : (right - names) / figure.names.length;
    const thick = (room * 0.78) / Math.max(1, series.length);
    figure.names.forEach((name, i) => {
      const begins = (flat ? top : names) + i * room;
      const middle = begins + room / 2;
      if (flat) make(svg, "text", { class: "name", x: names - 8, y: middle + 4, "text-anchor": "end" }, cut(name, names - 10));
      else make(svg, "text", { class: "name", x: middle, y: bottom + 16, "text-anchor": "middle" }, cut(name, room));
      series.forEach((one, j) => {
        const value = one.values[i];
        if (value === null || value === undefined) return;
        const colour = shade(figure.colours.length ? figure.colours[i] : one.colour);
        const side = begins + room * 0.11 + j * thick;
        const [zero, tip] = [scale.at(0), scale.at(value)];
        const box = flat ? { x: zero, y: side, width: tip - zero, height: thick - 1 } : { x: side, y: tip, width: thick - 1, height: zero - tip };
        make(svg, "rect", { class: "bar", ...box, rx: 1.5, style: `fill:${colour}` });
        const centre = side + (thick - 1) / 2;
        const ends = one.whiskers[i];
        if (ends) make(svg, "path", { class: "whisker", d: whisker(flat, centre, ...ends.map(scale.at)) });
        const seeds = one.dots[i] ?? [];
        if (seeds.length > 1) for (const dot of seeds) make(svg, "circle", { class: "dot", [flat ? "cx" : "cy"]: scale.at(dot), [flat ? "cy" : "cx"]: centre, r: 2.6 });
      });
    });
    if (figure.level) {
      const at = scale.at(figure.level[1]);
      make(svg, "line", flat ? { class: "level", x1: at, x2: at, y1: top, y2: bottom } : { class: "level", x1: names, x2: right, y1: at, y2: at });
    }
    svg.read = (px, py) => {
      const i = Math.floor(((flat ? py - top : px - names)) / room);
      if (!(i in figure.names)) return null;
      const rows = series.filter((one) => typeof one.values[i] === "number").map((one) => [figure.colours[i] ?? one.colour, one.name, range(one, i)]);
      if (figure.level) rows.push([-1, figure.level[0], written(figure.level[1])]);
      return [figure.names[i], rows];
    };
    return svg;
  };
  const whisker = (flat, at, low, high) => (flat ? `M${low} ${at}H${high}M${low} ${at - 3}v6M${high} ${at - 3}v6` : `M${at} ${low}V${high}M${at - 3} ${low}h6M${at - 3} ${high}h6`);
  const range = (one, i) => `${written(one.values[i])}${one.whiskers[i] ? ` (${one.whiskers[i].map(written).join(" to ")})` : ""}`;

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

  const KINDS = { curves, bars, heat };
  const entries = (figure) => {
    const found = new Map();
    if (figure.kind === "curves") for (const line of figure.lines) found.has(line.entry) || found.set(line.entry, line);
    if (figure.kind === "bars" && !figure.colours.length) for (const one of figure.series) found.set(one.name, { colour: one.colour, style: "bar" });
    return found.size > 1 ? found : new Map();
  };
  const legend = (figure, chart, place, redraw) => {
    for (const [entry, look] of entries(figure)) {
      const button = place.appendChild(document.createElement("button"));
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      const key = make(button, "svg", { width: 22, height: 10, "aria-hidden": "true", class: `key ${look.style}`, style: `stroke:${shade(look.colour)};fill:${shade(look.colour)}` });
      if (look.style === "bar") make(key, "rect", { x: 5, y: 0, width: 10, height: 10, rx: 1.5 });
      else make(key, "path", { d: look.style === "marks" ? "M11 0l5 5l-5 5l-5 -5z" : "M0 5H22" });
      button.append(entry);
      button.addEventListener("click", () => {
        const off = hidden.get(chart) ?? new Set();
        if (!off.delete(entry)) off.add(entry);
        hidden.set(chart, off);
        button.setAttribute("aria-pressed", String(!off.has(entry)));
        redraw();
      });
    }
  };
  return { draw: (figure, chart, wide) => KINDS[figure.kind](figure, chart, wide), legend, shade };
})();
