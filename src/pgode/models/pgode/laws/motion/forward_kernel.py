"""Motion in fine steps, forward: the compiled core."""

from math import exp

from pgode.models.pgode.laws.compiled import VERSION, entry, inlined
from pgode.models.pgode.laws.motion.force_kernel import REFLECT, accelerate, one_of


@inlined
def damp(v, drag, time):
    """Lose velocity to drag over `time`."""
    for i in range(v.shape[1]):
        if drag[i] != 0.0:
            kept = exp(-drag[i] * time)
            for a in range(v.shape[0]):
                v[a, i] *= kept


@inlined
def drift(q, v, time, walls, kinds):
    """Move freely, and mirror what is beyond a wall."""
    for a in range(q.shape[0]):
        low, high = walls[a, 0], walls[a, 1]
        reflects = kinds[a] == REFLECT
        for i in range(q.shape[1]):
            x = q[a, i] + time * v[a, i]
            if reflects:
                if x > high:
                    x = 2.0 * high - x
                    v[a, i] = -v[a, i]
                elif x < low:
                    x = 2.0 * low - x
                    v[a, i] = -v[a, i]
            q[a, i] = x


@inlined
def share_of_kick(m, steps, lead):
    """How much of a step's kick comes before drift `m`, or after the last one."""
    if m == 0:
        return 0.5 + lead
    if m == steps:
        return 0.5 - lead
    return 1.0


@inlined
def limits(steps, duration):
    """Steps of an interval to begin with, and the most that it may take."""
    time = abs(duration)
    number = max(1, int(steps.fewest * time + 0.999999))
    if steps.most <= steps.fewest:
        return number, number
    return number, int(steps.most * max(time, 1.0) + 0.999999)


@inlined
def interval(q, v, number, duration, lead, one, space, room):
    """Advance one system by `duration` in steps of kick, drift and kick."""
    h = duration / number
    for m in range(number + 1):
        kick = share_of_kick(m, number, lead) * h
        if kick != 0.0:
            accelerate(q, one, space, room)
            for a in range(q.shape[0]):
                for i in range(q.shape[1]):
                    v[a, i] += kick * room.acceleration[a, i]
        if m < number:
            damp(v, one.drag, 0.5 * h)
            drift(q, v, h, one.walls, space.kinds)
            damp(v, one.drag, 0.5 * h)


@entry
def forward(
    start, durations, layout, space, steps, arrays, out, record, room, chosen, version=VERSION
):
    """All copies of the systems `chosen`, from `start` (copy, axis, object) into `out`."""
    for s in chosen:
        begin, size = layout.offsets[s], layout.offsets[s + 1] - layout.offsets[s]
        own = slice(begin, begin + size)
        q, v = room.q[:, :size], room.v[:, :size]
        for c in range(start.q.shape[0]):
            one = one_of(arrays, layout, c, s)
            for t in range(durations.shape[2]):
                duration = durations[c, s, t]
                number, most = limits(steps, duration)
                while True:
                    q[:] = start.q[c, :, own] if t == 0 else out.q[c, t - 1, :, own]
                    v[:] = start.v[c, :, own] if t == 0 else out.v[c, t - 1, :, own]
                    room.watch[0], room.watch[1] = record.closest[c, s], 0.0
                    interval(q, v, number, duration, steps.lead, one, space, room)
                    wanted = abs(duration) * room.watch[1] ** 0.5 / steps.tolerance
                    if number >= most or not wanted > number:
                        break
                    more = 2 * number
                    while more < wanted and more < most:
                        more *= 2
                    number = min(more, most)
                record.closest[c, s] = room.watch[0]
                record.used[c, s, t] = number
                out.q[c, t, :, own] = q
                out.v[c, t, :, own] = v
