"use strict";
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const charts = [...document.querySelectorAll(".chart")];
  const PRINT_WIDTH = 660;
  const USUAL_HEIGHT = 330;
  const NARROW_CELL = 20; // pixels, too few for a number
  let printing = false;

  const themed = (value, colours) => {
    if (typeof value === "string") return colours[value] ?? value;
    if (Array.isArray(value)) return value.map((part) => themed(part, colours));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, themed(part, colours)]));
    return value;
  };

  const palette = () => {
    const style = getComputedStyle(root);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const named = ["soft", "rule", "ink", "accent"].map((name) => [`@${name}`, colour(name)]);
    return Object.fromEntries([...named, ["#0072B2", colour("first")]]); // too dark on a dark page
  };

  const draw = (chart) => {
    if (chart.closest("[hidden]")) return;
    const colours = palette();
    const state = `${colours["@ink"]} ${printing || chart.clientWidth}`;
    if (chart.dataset.state === state) return;
    chart.dataset.state = state;
    const { data, layout } = themed(figures[chart.dataset.figure], colours);
    const width = printing ? PRINT_WIDTH : chart.clientWidth;
    const entries = data.filter((trace) => trace.type !== "heatmap" && trace.showlegend !== false);
    const longest = Math.max(0, ...entries.map((trace) => trace.name.length));
    const rows = entries.length > 1 ? Math.ceil(entries.length / Math.max(1, Math.floor(width / (longest * 7 + 50)))) : 0;
    const axis = { gridcolor: colours["@rule"], linecolor: colours["@rule"], tickcolor: colours["@rule"], automargin: true };
    const height = (layout.height ?? USUAL_HEIGHT) + 23 * rows;
    const shown = {
      ...layout,
      width,
      height,
      showlegend: rows > 0,
      legend: { orientation: "h", x: 0, y: 1.02, yanchor: "bottom", font: { size: 12 } },
      margin: { l: 64, r: 12, t: 12 + 23 * rows, b: 48 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: colours["@ink"] },
      hoverlabel: { bgcolor: colours["@soft"], bordercolor: colours["@rule"], font: { color: colours["@ink"] } },
      xaxis: { ...axis, ...layout.xaxis, title: { standoff: 8, ...layout.xaxis.title } },
      yaxis: { ...axis, ...layout.yaxis },
    };
    for (const trace of data.filter((trace) => trace.texttemplate)) {
      const labels = 7 * Math.max(...trace.y.map((name) => name.length));
      if ((width - labels - 70) / trace.x.length < NARROW_CELL) delete trace.texttemplate;
    }
    if (chart.dataset.width !== String(width)) Plotly.purge(chart); // else the legend keeps the room it had
    chart.dataset.width = width;
    const tools = ["select2d", "lasso2d", "zoomIn2d", "zoomOut2d", "autoScale2d"];
    Plotly.react(chart, data, shown, { displaylogo: false, modeBarButtonsToRemove: tools, responsive: false });
  };
  const near = new Set(); // charts that are on the screen or soon will be
  const drawNear = () => (printing ? charts : near).forEach(draw);
  const approach = new IntersectionObserver(
    (seen) =>
      seen.forEach(({ target, isIntersecting }) => {
        if (!isIntersecting) return near.delete(target);
        near.add(target);
        draw(target);
      }),
    { rootMargin: "800px 0px" },
  );
  const waitForAll = () =>
    charts.forEach((chart) => {
      chart.style.minHeight = `${figures[chart.dataset.figure].layout.height ?? USUAL_HEIGHT}px`;
      approach.observe(chart);
    });

  const show = (run) => {
    for (const section of document.querySelectorAll("section")) {
      const select = section.querySelector(".choice select");
      if (!select) continue;
      if ([...select.options].some((option) => option.value === run)) select.value = run;
      for (const figure of section.querySelectorAll("figure[data-of]"))
        figure.hidden = figure.dataset.of !== "" && figure.dataset.of !== select.value;
    }
  };
  document.addEventListener("change", (event) => {
    if (!event.target.matches(".choice select")) return;
    show(event.target.value);
    drawNear();
  });

  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    drawNear();
  });
  dark.addEventListener("change", drawNear);

  let before;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, folded: [...document.querySelectorAll("details.table:not([open])")] };
    printing = true;
    root.dataset.theme = "light";
    before.folded.forEach((details) => (details.open = true));
    drawNear();
  });
  addEventListener("afterprint", () => {
    printing = false;
    if (before.theme) root.dataset.theme = before.theme;
    else delete root.dataset.theme;
    before.folded.forEach((details) => (details.open = false));
    drawNear();
  });

  let waiting;
  let wide = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === wide || printing) return;
    wide = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawNear, 150);
  });

  const links = new Map([...document.querySelectorAll("nav .links a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver(
    (seen) => seen.forEach((entry) => links.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting)),
    { rootMargin: "-20% 0px -70% 0px" },
  );
  document.querySelectorAll("section").forEach((section) => watcher.observe(section));

  show("");
  waitForAll();
  root.dataset.ready = "yes";
})();
