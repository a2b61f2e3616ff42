"use strict";

// Draws one frame of one system on a canvas: a scene holds what is drawn, a map converts to pixels.

const TAIL = 12;
// Lines of more objects than this are too many to read: one of them is singled out at first.
const CROWD = 12;
const MARGIN = { left: 56, right: 14, top: 14, bottom: 42 };

// States by object, frame and feature, from the flat lists of the page.
function reader(system, features) {
  const seen = system.condition;
  const ahead = system.times.length - seen;
  const pick = (list, frames, object, frame, feature) =>
    list[(object * frames + frame) * features + feature] ?? NaN;
  const observed = (object, frame, feature) => pick(system.observed, seen, object, frame, feature);
  const later = (name) => (object, frame, feature) =>
    frame < seen ? NaN : pick(system[name], ahead, object, frame - seen, feature);
  const [forecast, truth] = [later("forecast"), later("truth")];
  return {
    shown: (o, t, k) => (t < seen ? observed(o, t, k) : forecast(o, t, k)),
    truth: (o, t, k) => (t < seen ? observed(o, t, k) : truth(o, t, k)),
    lower: later("lower"),
    upper: later("upper"),
  };
}

function palette(objects) {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const colour = (index) => (objects <= 10
    ? read(`--o${index}`)
    : `hsl(${((index * 137.508) % 360).toFixed(0)} 58% ${read("--object-light")})`);
  return {
    objects: Array.from({ length: objects }, (_, index) => colour(index)),
    ink: read("--ink"), soft: read("--soft"), faint: read("--faint"), rule: read("--rule"),
  };
}

// An edge in both directions is drawn once.
function pairs(edges) {
  const unique = new Map();
  for (let index = 0; index < edges.length; index += 3) {
    const [a, b, weight] = edges.slice(index, index + 3);
    unique.set(a < b ? `${a},${b}` : `${b},${a}`, [a, b, weight]);
  }
  return [...unique.values()];
}

function ticks(low, high, most) {
  const rough = (high - low) / most;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * size).find((s) => s >= rough * 0.999);
  const values = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= high / step + 1e-9; n += 1) {
    values.push(Number((n * step).toPrecision(10)));
  }
  return values;
}

// From data to pixels. In a plane both axes have the same scale, so that shapes are not distorted.
function mapOf(system, view, width, height) {
  const box = { x: MARGIN.left, y: MARGIN.top };
  box.w = width - MARGIN.left - MARGIN.right;
  box.h = height - MARGIN.top - MARGIN.bottom;
  const y = [...system.bounds[view.y]];
  const x = view.x === null
    ? [system.times[0], system.times[system.times.length - 1]]
    : [...system.bounds[view.x]];
  if (view.x !== null) {
    const unit = Math.max((x[1] - x[0]) / box.w, (y[1] - y[0]) / box.h);
    for (const [range, size] of [[x, box.w], [y, box.h]]) {
      const middle = (range[0] + range[1]) / 2;
      range[0] = middle - (unit * size) / 2;
      range[1] = middle + (unit * size) / 2;
    }
  }
  return {
    box, x, y,
    px: (value) => box.x + ((value - x[0]) / (x[1] - x[0])) * box.w,
    py: (value) => box.y + box.h - ((value - y[0]) / (y[1] - y[0])) * box.h,
  };
}

// On half pixels a thin line is sharp.
function rule(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  context.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
  context.stroke();
}

// Labels of the x axis: dates at evenly chosen frames where the system has them, else round numbers.
function xTicks(map, scene) {
  const { system, view } = scene;
  const room = map.box.w / 110;
  if (view.x !== null || !system.dates) return ticks(...map.x, Math.max(2, room)).map((value) => [value, String(value)]);
  const stride = Math.max(1, Math.ceil(system.times.length / Math.max(2, room)));
  return system.times.map((time, k) => [time, system.dates[k]]).filter((_, k) => k % stride === 0);
}

function drawAxes(context, map, scene, xLabel, yLabel) {
  const { box } = map;
  const { colours } = scene;
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = colours.soft;
  context.strokeStyle = colours.rule;
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const [value, text] of xTicks(map, scene)) {
    rule(context, map.px(value), box.y, map.px(value), box.y + box.h);
    context.fillText(text, map.px(value), box.y + box.h + 6);
  }
  context.fillText(xLabel, box.x + box.w / 2, box.y + box.h + 23);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const value of ticks(...map.y, Math.max(2, box.h / 70))) {
    rule(context, box.x, map.py(value), box.x + box.w, map.py(value));
    context.fillText(String(value), box.x - 7, map.py(value));
  }
  context.save();
  context.translate(12, box.y + box.h / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(yLabel, 0, 0);
  context.restore();
}

// A line through the frames from..to; it breaks where a value is missing.
function trace(context, from, to, place) {
  context.beginPath();
  let open = false;
  for (let frame = from; frame <= to; frame += 1) {
    const [x, y] = place(frame);
    if (Number.isFinite(x) && Number.isFinite(y)) {
      if (open) context.lineTo(x, y); else context.moveTo(x, y);
      open = true;
    } else {
      open = false;
    }
  }
  context.stroke();
}

function disc(context, x, y, radius, filled) {
  if (!Number.isFinite(x) || !Number.isFinite(y)) return;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  if (filled) context.fill(); else context.stroke();
}

// The place of an object at a frame, as shown (observed or forecast) or true.
function placer(scene, kind, object) {
  const { view, map, states, system } = scene;
  return (frame) => [
    map.px(view.x === null ? system.times[frame] : states[kind](object, frame, view.x)),
    map.py(states[kind](object, frame, view.y)),
  ];
}

function drawLinks(context, scene) {
  const { colours, frame } = scene;
  const alpha = Math.min(0.38, Math.max(0.05, 14 / scene.pairs.length));
  const most = Math.max(...scene.pairs.map((pair) => Math.abs(pair[2])), 1e-12);
  context.strokeStyle = colours.soft;
  for (const [a, b, weight] of scene.pairs) {
    const [from, to] = [placer(scene, "shown", a)(frame), placer(scene, "shown", b)(frame)];
    const muted = scene.chosen >= 0 && scene.chosen !== a && scene.chosen !== b;
    context.globalAlpha = alpha * (muted ? 0.25 : 1);
    context.lineWidth = 0.5 + 1.2 * (Math.abs(weight) / most);
    context.setLineDash(weight < 0 ? [3, 4] : []);
    if (![...from, ...to].every(Number.isFinite)) continue;
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  }
  context.setLineDash([]);
}

// Objects in a plane: interval, tails, truth, and the object itself on top.
function drawPlane(context, scene) {
  const { system, states, view, map, frame, show, colours } = scene;
  if (show.edges && scene.pairs.length) drawLinks(context, scene);
  const start = Math.max(0, frame - TAIL);
  const turn = Math.min(frame, system.condition - 1);
  const radius = system.objects > 60 ? 3.5 : 6;
  for (let object = 0; object < system.objects; object += 1) {
    const strength = scene.chosen >= 0 && scene.chosen !== object ? 0.16 : 1;
    const [shown, truth] = [placer(scene, "shown", object), placer(scene, "truth", object)];
    context.strokeStyle = colours.objects[object];
    context.fillStyle = colours.objects[object];
    if (show.interval && frame >= system.condition) {
      const [left, right] = [states.lower, states.upper].map((f) => map.px(f(object, frame, view.x)));
      const [low, high] = [states.lower, states.upper].map((f) => map.py(f(object, frame, view.y)));
      if ([left, right, low, high].every(Number.isFinite)) {
        context.globalAlpha = 0.2 * strength;
        context.beginPath();
        context.ellipse((left + right) / 2, (low + high) / 2, Math.abs(right - left) / 2,
          Math.abs(low - high) / 2, 0, 0, 2 * Math.PI);
        context.fill();
      }
    }
    if (show.tails) {
      context.lineWidth = 2;
      context.globalAlpha = 0.32 * strength;
      trace(context, start, turn, shown);
      context.globalAlpha = 0.9 * strength;
      if (frame > turn) trace(context, Math.max(start, turn), frame, shown);
    }
    if (show.truth && frame >= system.condition) {
      context.globalAlpha = 0.8 * strength;
      context.lineWidth = 1.2;
      context.setLineDash([4, 4]);
      if (show.tails) trace(context, Math.max(start, turn), frame, truth);
      context.setLineDash([]);
      context.lineWidth = 1.6;
      disc(context, ...truth(frame), radius + 2.5, false);
    }
    context.globalAlpha = strength;
    disc(context, ...shown(frame), radius, true);
  }
  context.globalAlpha = 1;
}

// One feature over time; faint after the chosen time.
function drawLines(context, scene) {
  const { system, states, view, map, frame, show, colours } = scene;
  const last = system.times.length - 1;
  const turn = system.condition - 1;
  for (let object = 0; object < system.objects; object += 1) {
    const strength = scene.chosen >= 0 && scene.chosen !== object ? 0.12 : 1;
    const [shown, truth] = [placer(scene, "shown", object), placer(scene, "truth", object)];
    context.strokeStyle = colours.objects[object];
    context.fillStyle = colours.objects[object];
    if (show.interval && (system.objects <= CROWD || scene.chosen === object)) {
      context.globalAlpha = 0.14 * strength;
      for (let t = system.condition; t < last; t += 1) {
        const edge = (f, at) => [map.px(system.times[at]), map.py(f(object, at, view.y))];
        const corners = [edge(states.lower, t), edge(states.lower, t + 1),
          edge(states.upper, t + 1), edge(states.upper, t)];
        if (!corners.flat().every(Number.isFinite)) continue;
        context.beginPath();
        corners.forEach((corner) => context.lineTo(...corner));
        context.fill();
      }
    }
    context.lineWidth = 2;
    context.globalAlpha = 0.32 * strength;
    trace(context, 0, turn, shown);
    context.globalAlpha = 0.28 * strength;
    trace(context, Math.max(turn, frame), last, shown);
    context.globalAlpha = 0.95 * strength;
    if (frame > turn) trace(context, turn, frame, shown);
    if (show.truth) {
      context.lineWidth = 1.2;
      context.setLineDash([4, 4]);
      context.globalAlpha = 0.75 * strength;
      trace(context, turn, last, truth);
      context.setLineDash([]);
      if (frame > turn) disc(context, ...truth(frame), 6, false);
    }
    context.globalAlpha = strength;
    disc(context, ...shown(frame), 3.5, true);
  }
  context.globalAlpha = 1;
  context.strokeStyle = colours.soft;
  context.lineWidth = 1;
  const now = map.px(system.times[frame]);
  rule(context, now, map.box.y, now, map.box.y + map.box.h);
}

function drawScene(context, scene, labels) {
  const { map } = scene;
  drawAxes(context, map, scene, ...labels);
  context.save();
  context.beginPath();
  context.rect(map.box.x, map.box.y, map.box.w, map.box.h);
  context.clip();
  context.lineJoin = "round";
  if (scene.view.x === null) drawLines(context, scene); else drawPlane(context, scene);
  context.restore();
}
