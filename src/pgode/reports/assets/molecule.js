// The molecule in three dimensions, drawn by 3Dmol.js: the forecast in colour over the truth in grey.

const NO_WEBGL = "This browser does not offer WebGL 2, which drawing in three dimensions needs, so the "
  + "molecule cannot be shown here. Turn on hardware acceleration, or open this page in another browser.";
const ELEMENTS = { C: "--o2", N: "--o0", O: "--o3", S: "--o8", P: "--o1" };
const STEPS = { ArrowLeft: ["y", -10], ArrowRight: ["y", 10], ArrowUp: ["x", -10], ArrowDown: ["x", 10] };
const ZOOMS = { "+": 1.15, "=": 1.15, "-": 1 / 1.15 };

// 3Dmol reads #rrggbb and rgb(), not hsl().
function plainColour(colour) {
  const probe = document.createElement("i");
  probe.style.color = colour;
  document.body.append(probe);
  const computed = getComputedStyle(probe).color;
  probe.remove();
  return computed;
}

// Halfway between two colours #rrggbb.
function between(one, other) {
  const parts = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const [a, b] = [parts(one), parts(other)];
  return `rgb(${a.map((value, k) => Math.round((value + b[k]) / 2)).join(", ")})`;
}

// 3Dmol's canvas, or null without WebGL, which is tested first because a failure would be logged.
function openViewer(box) {
  try {
    if (!document.createElement("canvas").getContext("webgl2")) return null;
    return $3Dmol.createViewer(box, { antialias: true, disableFog: true });
  } catch {
    return null;
  }
}

// A model whose atoms are moved in place: bonds are set once, so they cannot flicker.
function addMolecule(viewer, molecule) {
  const atoms = molecule.elements.map((elem, index) => ({
    elem, index, serial: index, atom: molecule.names[index], x: 0, y: 0, z: 0, bonds: [], bondOrder: [],
  }));
  for (let k = 0; k < molecule.bonds.length; k += 2) {
    const [one, other] = [molecule.bonds[k], molecule.bonds[k + 1]];
    for (const [from, to] of [[one, other], [other, one]]) {
      atoms[from].bonds.push(to);
      atoms[from].bondOrder.push(1);
    }
  }
  const model = viewer.addModel();
  model.addAtoms(atoms);
  const placed = model.selectedAtoms({});
  model.addFrame(placed);
  return (frame) => {
    if (frame) {
      placed.forEach((atom, k) => {
        [atom.x, atom.y, atom.z] = [0, 1, 2].map((axis) => frame[3 * k + axis] / 100);
      });
      model.setFrame(0); // The same atoms: this makes 3Dmol redraw them.
      model.show();
    } else {
      model.hide();
    }
  };
}

function startPlayer(molecule) {
  const element = (name) => document.getElementById(`molecule-${name}`);
  const box = element("view");
  if (!box) return;
  const [systems, slider, clock, readout] = ["system", "time", "clock", "readout"].map(element);
  const [forecastBox, truthBox, hydrogens] = ["forecast", "truth", "hydrogens"].map(element);
  const viewer = openViewer(box);
  let [system, frame] = [molecule.systems[0], 0];
  let [drawTruth, drawForecast] = [() => {}, () => {}];

  const truthAt = (k) => (k < system.condition ? system.observed[k] : system.truth[k - system.condition]);
  const forecastAt = (k) => (k < system.condition ? null : system.forecast[k - system.condition]);

  function describe() {
    const ahead = frame - system.condition + 1;
    const unit = molecule.time ? ` ${molecule.time}` : "";
    const phase = ahead > 0
      ? `forecast ${ahead} of ${system.times.length - system.condition}`
      : `observed ${frame + 1} of ${system.condition}`;
    const time = Number(system.times[frame].toPrecision(6)).toString().replace("-", "−");
    clock.textContent = `time ${time}${unit} · ${phase}`;
    slider.setAttribute("aria-valuetext", clock.textContent);
    const rmsd = ahead > 0 ? system.rmsd[ahead - 1] : null;
    if (ahead <= 0) readout.textContent = "The model sees these frames.";
    else if (rmsd === null) readout.textContent = "The truth or the forecast is not known at this time.";
    else readout.textContent = `RMSD ${Number(rmsd.toPrecision(3))} ${molecule.unit} after superposition.`;
    box.setAttribute("aria-label", `${system.name}, ${clock.textContent}`);
  }

  function draw() {
    if (viewer) {
      drawTruth(truthBox.checked ? truthAt(frame) : null);
      drawForecast(forecastBox.checked ? forecastAt(frame) : null);
      viewer.render();
    }
    describe();
  }

  function paint() {
    const read = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const pale = between(read(ELEMENTS.C), read("--paper"));
    const own = molecule.chained
      ? palette(molecule.elements.length).objects.map(plainColour)
      : molecule.elements.map((elem) => (elem === "H" ? pale : read(ELEMENTS[elem] ?? "--o4")));
    const style = (look, thin) => (molecule.chained
      ? { stick: { radius: 0.16 * thin, ...look }, sphere: { radius: 0.7 * thin, ...look } }
      : { stick: { radius: 0.17 * thin, ...look } });
    const [truth, forecast] = [viewer.getModel(0), viewer.getModel(1)];
    truth.setStyle({}, style({ color: between(read("--soft"), read("--ink")), opacity: 0.55 }, 1));
    // A little thicker, so that the forecast is visible where both agree.
    forecast.setStyle({}, style({ colorfunc: (atom) => own[atom.index] }, 1.15));
    for (const model of hydrogens.checked ? [] : [truth, forecast]) model.setStyle({ elem: "H" }, {});
    viewer.setBackgroundColor(read("--paper"));
  }

  function setFrame(wanted) {
    frame = Math.min(Math.max(wanted, 0), system.times.length - 1);
    slider.value = String(frame);
    draw();
  }

  function setSystem() {
    system = molecule.systems[Number(systems.value)];
    slider.max = String(system.times.length - 1);
    setFrame(frame);
    // Around the last observed frame, since a forecast may diverge.
    if (viewer) {
      drawTruth(truthAt(system.condition - 1) ?? truthAt(0));
      viewer.zoomTo({ model: 0 });
      if (box.clientWidth > 1.5 * box.clientHeight) viewer.zoom(1.25);
      draw();
    }
  }

  function startDrawing() {
    drawTruth = addMolecule(viewer, molecule);
    drawForecast = addMolecule(viewer, molecule);
    viewer.setHoverable({}, true,
      (atom, _, event) => showTip(event, `${molecule.residues[atom.index]} ${atom.atom}`), hideTip);
    paint();
    // Without Ctrl the wheel scrolls the page, as everywhere else on it.
    box.addEventListener("wheel", (event) => { if (!event.ctrlKey) event.stopPropagation(); }, true);
    box.addEventListener("pointerleave", hideTip);
    box.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (STEPS[event.key]) viewer.rotate(STEPS[event.key][1], STEPS[event.key][0]);
      else if (ZOOMS[event.key]) viewer.zoom(ZOOMS[event.key]);
      else return;
      event.preventDefault();
    });
    hydrogens.addEventListener("change", () => { paint(); draw(); });
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { paint(); draw(); });
  }

  hydrogens.parentElement.hidden = !molecule.elements.includes("H") || !viewer;
  if (viewer) {
    startDrawing();
  } else {
    box.textContent = NO_WEBGL;
    box.classList.add("missing");
  }
  for (const part of [forecastBox, truthBox]) part.addEventListener("change", draw);
  systems.addEventListener("change", setSystem);
  startPlayback({ button: element("play"), slider, speed: element("speed"), frame: () => frame, setFrame });
  frame = Math.floor((system.condition + system.times.length) / 2);
  setSystem();
}
