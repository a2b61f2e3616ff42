// The player's controls: which system, view, object and time.

function startPlayer(data) {
  const element = (name) => document.getElementById(name);
  const canvas = element("player-canvas");
  if (!canvas) return;
  const [systems, views, objects] = ["system", "view", "object"].map((n) => element(`player-${n}`));
  const [slider, clock, button] = ["time", "clock", "play"].map((n) => element(`player-${n}`));
  const readout = element("player-readout");
  const keys = element("player-keys");
  const switches = ["edges", "tails", "truth", "interval", "beside"];
  const scene = { chosen: -1, frame: 0, show: {} };

  const text = (value) => (Number.isFinite(value) ? Number(value.toPrecision(3)).toString() : "unknown");
  const mean = (list) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const axes = () => [scene.view.x, scene.view.y, scene.view.z].filter(Number.isInteger);
  const flat = () => scene.view.z === undefined;
  const crowded = () => scene.view.x === null && scene.system.objects > CROWD;
  const called = (object) => scene.system.labels?.[object] ?? `object ${object}`;
  const titled = (object) => scene.system.labels?.[object] ?? `Object ${object}`;

  // Distance between forecast and truth in the chosen view.
  function miss(object) {
    const parts = axes().map((k) =>
      scene.states.shown(object, scene.frame, k) - scene.states.truth(object, scene.frame, k));
    return Math.hypot(...parts);
  }

  function describe() {
    const { system, frame, chosen } = scene;
    const ahead = frame - system.condition + 1;
    const unit = data.time ? ` ${data.time}` : "";
    const phase = ahead > 0
      ? `forecast ${ahead} of ${system.times.length - system.condition}`
      : `observed ${frame + 1} of ${system.condition}`;
    const time = system.dates?.[frame] ?? `time ${Number(system.times[frame].toPrecision(6))}${unit}`;
    clock.textContent = `${time} · ${phase}`;
    slider.setAttribute("aria-valuetext", clock.textContent);
    const point = (kind) => axes().map((k) => text(scene.states[kind](chosen, frame, k))).join(", ");
    if (chosen >= 0) {
      const count = system.gate ? system.gate.length / system.objects : 0;
      const gate = count
        ? ` Prototype weights: ${system.gate.slice(chosen * count, (chosen + 1) * count).map((w) => w.toFixed(2)).join(", ")}.`
        : "";
      readout.textContent = ahead > 0
        ? `${titled(chosen)}: forecast (${point("shown")}), truth (${point("truth")}), distance ${text(miss(chosen))}.${gate}`
        : `${titled(chosen)}: observed (${point("shown")}).${gate}`;
    } else if (ahead > 0) {
      const distances = Array.from({ length: system.objects }, (_, o) => miss(o)).filter(Number.isFinite);
      readout.textContent = distances.length
        ? `Mean distance between forecast and truth: ${text(mean(distances))}; largest of an object: ${text(Math.max(...distances))}.`
        : "The truth is not known at this time.";
    } else {
      readout.textContent = "The model sees these frames.";
    }
    canvas.setAttribute("aria-label", `${system.name}, ${scene.view.label}, ${clock.textContent}`);
  }

  function draw() {
    const width = canvas.clientWidth;
    const height = Math.round(Math.min(620, Math.max(300, width * 0.58)));
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    scene.width = width;
    if (flat()) {
      scene.map = mapOf(scene.system, scene.view, width, height);
      const time = scene.system.dates ? "" : data.time ? `time (${data.time})` : "time";
      const labels = [scene.view.x === null ? time : data.features[scene.view.x], data.features[scene.view.y]];
      drawScene(context, scene, labels);
    } else {
      drawSpace(context, scene, width, height, data.names);
    }
    describe();
  }

  function setFrame(frame) {
    scene.frame = Math.min(Math.max(frame, 0), scene.system.times.length - 1);
    slider.value = String(scene.frame);
    draw();
  }

  function setSystem() {
    const system = data.systems[Number(systems.value)];
    scene.system = system;
    scene.states = reader(system, data.features.length);
    scene.pairs = pairs(system.edges);
    scene.colours = palette(system.objects);
    scene.chosen = crowded() ? system.worst : -1;
    objects.replaceChildren(new Option("all", "-1"),
      ...Array.from({ length: system.objects }, (_, index) => new Option(system.labels?.[index] ?? String(index), String(index))));
    objects.value = String(scene.chosen);
    slider.max = String(system.times.length - 1);
    setFrame(Math.min(scene.frame, system.times.length - 1));
  }

  function setView() {
    scene.view = data.views[Number(views.value)];
    for (const name of ["edges", "tails"]) element(`show-${name}`).disabled = scene.view.x === null;
    element("show-beside").parentElement.hidden = flat();
    keys.hidden = flat();
    canvas.classList.toggle("space", !flat());
    if (flat()) canvas.removeAttribute("tabindex"); else canvas.tabIndex = 0;
  }

  // The object nearest to the pointer: by distance in a plane, by the height of its line over time.
  function nearest(event) {
    const area = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - area.left, event.clientY - area.top];
    const { system, map } = scene;
    let frame = scene.frame;
    if (scene.view.x === null) {
      const gaps = system.times.map((time) => Math.abs(map.px(time) - x));
      frame = gaps.indexOf(Math.min(...gaps));
    }
    let [best, reach] = [-1, 18];
    if (!flat()) {
      scene.points.forEach((point, object) => {
        const gap = Math.hypot(point[0] - x, point[1] - y);
        if (gap < reach) [best, reach] = [object, gap];
      });
      return best;
    }
    for (let object = 0; object < system.objects; object += 1) {
      const [at, height] = placer(scene, "shown", object)(frame);
      const gap = Math.hypot(scene.view.x === null ? 0 : at - x, height - y);
      if (gap < reach) [best, reach] = [object, gap];
    }
    return best;
  }

  function choose(object) {
    scene.chosen = object;
    objects.value = String(object);
    draw();
  }

  data.views.forEach((view, index) => views.append(new Option(view.label, String(index))));
  for (const name of switches) {
    const box = element(`show-${name}`);
    scene.show[name] = box.checked;
    box.addEventListener("change", () => { scene.show[name] = box.checked; draw(); });
  }
  systems.addEventListener("change", () => setSystem());
  views.addEventListener("change", () => {
    setView();
    if (crowded() && scene.chosen < 0) choose(scene.system.worst); else draw();
  });
  objects.addEventListener("change", () => choose(Number(objects.value)));
  startPlayback({ button, slider, speed: element("player-speed"), frame: () => scene.frame, setFrame });
  startTurning(canvas, scene, draw);
  canvas.addEventListener("click", (event) => {
    if (scene.dragged) return;
    const object = nearest(event);
    choose(object === scene.chosen ? -1 : object);
  });
  canvas.addEventListener("pointermove", (event) => {
    const object = nearest(event);
    if (object < 0) hideTip(); else showTip(event, called(object));
  });
  canvas.addEventListener("pointerleave", hideTip);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    scene.colours = palette(scene.system.objects);
    draw();
  });
  setView();
  scene.frame = Math.floor((data.systems[0].condition + data.systems[0].times.length) / 2);
  setSystem();
  new ResizeObserver(() => {
    if (canvas.clientWidth && scene.width !== canvas.clientWidth) draw();
  }).observe(canvas);
}
