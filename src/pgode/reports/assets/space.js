// Objects in three dimensions on a canvas, seen from any side: points, and edges as bones.

const TURN_STEP = 10;
const TURNS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const SIZES = { "+": 1.15, "=": 1.15, "-": 1 / 1.15 };
const FIRST_LOOK = { yaw: 35, pitch: 12, size: 1 };

// From the centre of the system to pixels: turned about the upward axis, then tilted.
function spaceMap(system, view, look, box) {
  const axes = [view.x, view.y, view.z];
  const up = axes[system.up];
  const [a, b] = [axes[(system.up + 1) % 3], axes[(system.up + 2) % 3]];
  const middle = (k) => (system.bounds[k][0] + system.bounds[k][1]) / 2;
  const reach = Math.hypot(...axes.map((k) => system.bounds[k][1] - system.bounds[k][0]));
  const unit = (look.size * Math.min(box.w, box.h) * 1.15) / (reach || 1);
  const [yaw, pitch] = [look.yaw, look.pitch].map((degrees) => (degrees * Math.PI) / 180);
  const turned = (one, other, height) => {
    const side = one * Math.cos(yaw) + other * Math.sin(yaw);
    const depth = -one * Math.sin(yaw) + other * Math.cos(yaw);
    return [side, height * Math.cos(pitch) - depth * Math.sin(pitch),
      depth * Math.cos(pitch) + height * Math.sin(pitch)];
  };
  return {
    box, axes,
    arrow: (k) => turned(Number(k === a), Number(k === b), Number(k === up)),
    place: (value) => {
      const [side, height, depth] = turned(value(a) - middle(a), value(b) - middle(b), value(up) - middle(up));
      return [box.x + box.w / 2 + unit * side, box.y + box.h / 2 - unit * height, depth];
    },
  };
}

// Forecast and truth each have half of a wide canvas, or both the whole of it.
function spaceMaps(scene, width, height) {
  const apart = scene.show.beside && scene.show.truth;
  const part = apart ? width / 2 : width;
  const box = (at) => ({ x: at + 8, y: 24, w: part - 16, h: height - 40 });
  const make = (at) => spaceMap(scene.system, scene.view, scene.look, box(at));
  return { shown: make(0), truth: apart ? make(part) : make(0), apart };
}

function drawBody(context, scene, map, kind, frame, grey) {
  const { states, colours, system } = scene;
  const at = (object) => map.place((k) => states[kind](object, frame, k));
  const points = Array.from({ length: system.objects }, (_, object) => at(object));
  const known = (point) => point.every(Number.isFinite);
  const pale = (object) => (scene.chosen >= 0 && scene.chosen !== object ? 0.25 : 1);
  const strength = grey ? 0.75 : 1;
  context.lineCap = "round";
  if (scene.show.edges) {
    const many = scene.pairs.length > 4 * system.objects;
    context.strokeStyle = grey ? colours.soft : colours.ink;
    context.lineWidth = many ? 0.6 : 2.6;
    for (const [one, other] of scene.pairs) {
      if (!known(points[one]) || !known(points[other])) continue;
      context.globalAlpha = strength * (many ? 0.2 : 0.7) * Math.max(pale(one), pale(other));
      context.beginPath();
      context.moveTo(points[one][0], points[one][1]);
      context.lineTo(points[other][0], points[other][1]);
      context.stroke();
    }
  }
  const radius = system.objects > 60 ? 2.5 : 4;
  // The farthest first, so that near objects lie on top.
  const order = [...points.keys()].sort((one, other) => points[other][2] - points[one][2]);
  for (const object of order) {
    context.globalAlpha = strength * pale(object);
    context.fillStyle = grey ? colours.soft : colours.objects[object];
    disc(context, points[object][0], points[object][1], object === scene.chosen ? 1.6 * radius : radius, true);
  }
  context.globalAlpha = 1;
  return points;
}

function drawTails(context, scene, map, kind, frame) {
  const few = scene.system.objects <= 12;
  const start = Math.max(0, frame - TAIL);
  for (let object = 0; object < scene.system.objects; object += 1) {
    if (!few && object !== scene.chosen) continue;
    context.strokeStyle = scene.colours.objects[object];
    context.globalAlpha = 0.6;
    context.lineWidth = 1.6;
    trace(context, start, frame, (t) => map.place((k) => scene.states[kind](object, t, k)));
  }
  context.globalAlpha = 1;
}

// The middle 90 % of the samples along each axis, as a cross through the forecast.
function drawCrosses(context, scene, map, frame) {
  const { states, system, colours } = scene;
  for (let object = 0; object < system.objects; object += 1) {
    context.strokeStyle = colours.objects[object];
    context.globalAlpha = scene.chosen >= 0 && scene.chosen !== object ? 0.06 : 0.3;
    context.lineWidth = 3;
    for (const axis of map.axes) {
      const end = (bound) => map.place((k) => states[k === axis ? bound : "shown"](object, frame, k));
      const [low, high] = [end("lower"), end("upper")];
      if (![...low, ...high].every(Number.isFinite)) continue;
      context.beginPath();
      context.moveTo(low[0], low[1]);
      context.lineTo(high[0], high[1]);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

// Which way the axes of the data point, in a corner.
function drawCompass(context, map, names, colours) {
  const [x, y] = [map.box.x + 34, map.box.y + map.box.h - 22];
  context.strokeStyle = colours.soft;
  context.fillStyle = colours.soft;
  context.lineWidth = 1.2;
  context.font = "12px system-ui, sans-serif";
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const k of map.axes) {
    const [side, height] = map.arrow(k);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + 22 * side, y - 22 * height);
    context.stroke();
    context.fillText(names[k], x + 32 * side, y - 32 * height);
  }
}

function drawSpace(context, scene, width, height, names) {
  const maps = spaceMaps(scene, width, height);
  const { frame, show, colours, system } = scene;
  const ahead = frame >= system.condition;
  scene.points = [];
  if (show.truth && (ahead || maps.apart)) {
    if (show.tails && maps.apart) drawTails(context, scene, maps.truth, "truth", frame);
    drawBody(context, scene, maps.truth, "truth", frame, true);
  }
  if (show.interval && ahead) drawCrosses(context, scene, maps.shown, frame);
  if (show.tails) drawTails(context, scene, maps.shown, "shown", frame);
  scene.points = drawBody(context, scene, maps.shown, "shown", frame, false);
  context.font = "13px system-ui, sans-serif";
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  context.textBaseline = "top";
  const title = (map, text) => context.fillText(text, map.box.x + map.box.w / 2, 8);
  title(maps.shown, ahead ? (show.truth && !maps.apart ? "forecast, truth in grey" : "forecast") : "observed");
  if (maps.apart) {
    title(maps.truth, ahead ? "truth" : "observed");
    context.strokeStyle = colours.rule;
    context.lineWidth = 1;
    rule(context, width / 2, 8, width / 2, height - 8);
  }
  drawCompass(context, maps.shown, names, colours);
}

// Drag, arrow keys, + and - and Ctrl with the wheel change the look; `draw` draws it.
function startTurning(canvas, scene, draw) {
  scene.look = { ...FIRST_LOOK };
  let from = null;
  const inSpace = () => scene.view.z !== undefined;
  const turn = (yaw, pitch) => {
    scene.look.yaw += yaw;
    scene.look.pitch = Math.min(90, Math.max(-90, scene.look.pitch + pitch));
    draw();
  };
  const resize = (factor) => {
    scene.look.size = Math.min(12, Math.max(0.2, scene.look.size * factor));
    draw();
  };
  canvas.addEventListener("pointerdown", (event) => {
    scene.dragged = false;
    if (!inSpace()) return;
    from = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = [event.clientX - from[0], event.clientY - from[1]];
    if (!scene.dragged && Math.hypot(x, y) < 4) return;
    scene.dragged = true;
    from = [event.clientX, event.clientY];
    turn(-x * 0.5, y * 0.4);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { from = null; });
  canvas.addEventListener("wheel", (event) => {
    if (!inSpace() || !event.ctrlKey) return; // Without Ctrl the wheel scrolls the page.
    event.preventDefault();
    resize(Math.exp(-event.deltaY / 300));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    if (!inSpace() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (TURNS[event.key]) turn(...TURNS[event.key].map((sign) => sign * TURN_STEP));
    else if (SIZES[event.key]) resize(SIZES[event.key]);
    else return;
    event.preventDefault();
  });
}
