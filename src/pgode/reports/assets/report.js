// Tool tips, the choice of axes, the current section in the menu, and the start of the player:
// a page with systems has another script that defines startPlayer.

function showTip(event, text) {
  const tip = document.getElementById("tip");
  tip.style.whiteSpace = "pre-line";
  tip.textContent = text;
  tip.hidden = false;
  const [width, height] = [tip.offsetWidth, tip.offsetHeight];
  const left = event.clientX + 14 + width > window.innerWidth ? event.clientX - 14 - width : event.clientX + 14;
  const top = event.clientY + 14 + height > window.innerHeight ? event.clientY - 14 - height : event.clientY + 14;
  tip.style.left = `${Math.max(4, left)}px`;
  tip.style.top = `${Math.max(4, top)}px`;
}

function hideTip() {
  document.getElementById("tip").hidden = true;
}

// The values of all lines at the frame or epoch under the pointer.
function startChart(svg) {
  const chart = JSON.parse(svg.dataset.chart);
  const [left, top, right, bottom] = chart.box;
  const [first, last] = [chart.x[0], chart.x[chart.x.length - 1]];
  const cursor = document.createElementNS("http://www.w3.org/2000/svg", "line");
  cursor.setAttribute("class", "cursor");
  cursor.setAttribute("y1", top);
  cursor.setAttribute("y2", bottom);
  const text = (value) => (value === null ? "unknown" : value.toPrecision(3));
  svg.addEventListener("pointermove", (event) => {
    const area = svg.getBoundingClientRect();
    const x = ((event.clientX - area.left) / area.width) * svg.viewBox.baseVal.width;
    if (x < left - 8 || x > right + 8) return;
    const wanted = first + ((x - left) / (right - left)) * (last - first);
    const gaps = chart.x.map((value) => Math.abs(value - wanted));
    const index = gaps.indexOf(Math.min(...gaps));
    const at = last === first ? (left + right) / 2 : left + ((chart.x[index] - first) / (last - first)) * (right - left);
    cursor.setAttribute("x1", at);
    cursor.setAttribute("x2", at);
    svg.append(cursor);
    const rows = chart.rows.map((row) =>
      `${row.name}: ${text(row.y[index])}${row.to ? ` to ${text(row.to[index])}` : ""}`);
    showTip(event, [`${chart.label} ${chart.x[index]}`, ...rows].join("\n"));
  });
  svg.addEventListener("pointerleave", () => { cursor.remove(); hideTip(); });
}

function startTips() {
  document.addEventListener("pointerover", (event) => {
    const owner = event.target.closest?.("[data-tip]");
    if (owner) showTip(event, owner.dataset.tip);
  });
  document.addEventListener("pointerout", (event) => {
    if (event.target.closest?.("[data-tip]")) hideTip();
  });
}

function startPictures() {
  const chooser = document.getElementById("picture-view");
  chooser?.addEventListener("change", () => {
    for (const part of document.querySelectorAll("[data-view]")) {
      part.hidden = part.dataset.view !== chooser.value;
    }
  });
}

function startMenu() {
  const links = new Map([...document.querySelectorAll("nav a")].map((a) => [a.hash.slice(1), a]));
  const seen = new Set();
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) seen.add(entry.target.id); else seen.delete(entry.target.id);
    }
    const current = [...links.keys()].find((name) => seen.has(name));
    for (const [name, link] of links) {
      if (name === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const section of document.querySelectorAll("main section")) watch.observe(section);
}

const page = JSON.parse(document.getElementById("data").textContent);
document.querySelectorAll("svg[data-chart]").forEach(startChart);
startTips();
startPictures();
startMenu();
if (page.systems.length) startPlayer(page);
document.documentElement.dataset.ready = "true";
