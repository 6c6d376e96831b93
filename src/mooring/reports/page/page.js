"use strict";
(() => {
  const root = document.documentElement;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const places = [...document.querySelectorAll(".chart")];
  const PRINTED_ROWS = 40; // a longer table stays folded on paper
  const PRINT_WIDTH = { third: 322, half: 322, wide: 660 }; // of a column, or of the page
  let printing = false;

  const onPaper = (figure) => PRINT_WIDTH[figure.matches(".picture > *") || shownIn(figure.parentElement) === 1 ? "wide" : figure.className];
  const shownIn = (place) => place.querySelectorAll(":scope > figure:not([hidden])").length;
  const draw = (chart) => {
    if (chart.closest("[hidden]")) return;
    const wide = printing ? onPaper(chart.closest("figure")) : chart.clientWidth;
    if (!wide || chart.dataset.width === String(wide)) return;
    chart.dataset.width = wide;
    charts.draw(figures[chart.dataset.figure], chart, wide);
  };
  const again = (chart) => {
    delete chart.dataset.width;
    draw(chart);
  };
  const drawAll = () => places.forEach(draw);
  const tools = document.getElementById("tools");
  const alike = Map.groupBy(places, (chart) => JSON.stringify([...charts.entries(figures[chart.dataset.figure])].map(([name, look]) => [name, look.colour])));
  const most = [...alike].filter(([key]) => key !== "[]").reduce((best, one) => (one[1].length > (best?.[1].length ?? 1) ? one : best), null);
  for (const [key, mine] of alike) {
    if (key === "[]") continue;
    const place = document.createElement("div");
    place.className = "legend";
    if (key === most?.[0]) tools.append(place);
    else mine[0].closest("figure").querySelector(".chart").before(place);
    charts.legend(figures[mine[0].dataset.figure], place, () => mine, () => mine.forEach(again));
  }
  tools.hidden = !tools.childElementCount;

  const tip = document.body.appendChild(document.createElement("div"));
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  const tell = (content, event) => {
    const [title, rows] = content;
    tip.replaceChildren(Object.assign(document.createElement("b"), { textContent: title }));
    for (const [colour, name, value] of rows) {
      const row = tip.appendChild(document.createElement("div"));
      const key = row.appendChild(document.createElement("i"));
      if (colour !== null) key.style.background = charts.shade(colour);
      row.append(`${name} `, Object.assign(document.createElement("span"), { textContent: value }));
    }
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const beside = event.clientX + 14 + width > root.clientWidth ? event.clientX - 14 - width : event.clientX + 14;
    tip.style.left = `${Math.max(4, beside)}px`;
    tip.style.top = `${Math.max(4, Math.min(event.clientY - height / 2, innerHeight - height - 4))}px`;
  };
  const leave = (chart) => {
    tip.hidden = true;
    chart.firstElementChild?.leave?.();
  };
  for (const chart of places) {
    const read = (event) => {
      const svg = chart.firstElementChild;
      if (!svg?.read) return;
      const box = svg.getBoundingClientRect();
      const scale = svg.viewBox.baseVal.width / (box.width || 1);
      const content = svg.read((event.clientX - box.left) * scale, (event.clientY - box.top) * scale);
      if (content) tell(content, event);
      else leave(chart);
    };
    chart.addEventListener("pointermove", read);
    chart.addEventListener("pointerdown", read);
    chart.addEventListener("pointerleave", () => leave(chart));
  }

  const select = tools.querySelector("select");
  const show = () => {
    for (const section of document.querySelectorAll("section")) {
      const some = [...section.querySelectorAll("figure[data-of]:not([data-of=''])")];
      const shown = some.some((figure) => figure.dataset.of === select?.value) ? select.value : some[0]?.dataset.of;
      for (const figure of some) figure.hidden = figure.dataset.of !== shown;
    }
  };
  select?.addEventListener("change", () => {
    show();
    drawAll();
  });

  /* A click on a heading sorts its table: numbers by value, largest first, then the other way round. */
  const value = (cell) => {
    const text = cell.textContent.trim().replaceAll(",", "");
    const found = /^[-+]?[0-9.]+(e[-+]?[0-9]+)?/i.exec(text);
    return text === "–" ? null : found ? Number(found[0]) : text.toLowerCase();
  };
  const compare = (a, b) => (a === null ? 1 : b === null ? -1 : typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === "number" ? -1 : 1);
  for (const head of document.querySelectorAll("thead th")) {
    const body = head.closest("table").tBodies[0];
    if (body.rows.length < 2) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const falling = head.getAttribute("aria-sort") ? head.getAttribute("aria-sort") === "ascending" : head.classList.contains("number");
      for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", falling ? "descending" : "ascending");
      const rows = [...body.rows].map((row) => [value(row.cells[head.cellIndex]), row]);
      rows.sort(([a], [b]) => (a === null || b === null ? compare(a, b) : falling ? compare(b, a) : compare(a, b)));
      body.append(...rows.map(([, row]) => row));
    });
  }
  document.addEventListener("toggle", (event) => event.target.open && event.target.querySelectorAll(".chart").forEach(draw), true);

  const dark = matchMedia("(prefers-color-scheme: dark)");
  document.getElementById("theme").addEventListener("click", () => {
    const now = root.dataset.theme ?? (dark.matches ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
  });

  for (const button of document.querySelectorAll("button.copy"))
    button.addEventListener("click", async () => {
      const text = button.parentElement.querySelector("code").textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(button.parentElement.querySelector("code"));
        button.textContent = "Marked";
      }
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });

  let folded = [];
  addEventListener("beforeprint", () => {
    printing = true;
    folded = [...document.querySelectorAll(".claim:not([open]), .unseen:not([open]), .table details:not([open]):not(.repeats)")].filter((part) => part.querySelectorAll("tr").length <= PRINTED_ROWS);
    document.querySelectorAll(".figures").forEach((place) => place.classList.toggle("alone", shownIn(place) === 1));
    folded.forEach((part) => (part.open = true));
    drawAll();
  });
  addEventListener("afterprint", () => {
    printing = false;
    folded.forEach((part) => (part.open = false));
    drawAll();
  });

  let waiting;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    if (!printing) waiting = setTimeout(drawAll, 100);
  });

  const links = new Map([...document.querySelectorAll("nav .links a")].map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver(
    (seen) => seen.forEach((entry) => links.get(entry.target.id)?.classList.toggle("here", entry.isIntersecting)),
    { rootMargin: "-20% 0px -70% 0px" },
  );
  document.querySelectorAll("section").forEach((section) => watcher.observe(section));

  show();
  drawAll();
  root.dataset.ready = "yes";
})();
