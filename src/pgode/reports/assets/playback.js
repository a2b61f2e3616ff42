// The clock of a player: a button starts and stops it, and it moves the slider.

function startPlayback({ button, slider, speed, frame, setFrame }) {
  let playing = 0;
  const last = () => Number(slider.max);

  function pause() {
    playing = 0;
    button.textContent = "Play";
    button.setAttribute("aria-pressed", "false");
  }

  function play() {
    if (frame() >= last()) setFrame(0);
    button.textContent = "Pause";
    button.setAttribute("aria-pressed", "true");
    const mine = playing = performance.now();
    let before = mine;
    const step = (now) => {
      if (playing !== mine) return;
      const wait = 1000 / Number(speed.value);
      if (now - before >= wait) {
        before = Math.max(before + wait, now - wait);
        setFrame(frame() + 1);
      }
      if (frame() >= last()) pause();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }

  slider.addEventListener("input", () => { pause(); setFrame(Number(slider.value)); });
  button.addEventListener("click", () => (playing ? pause() : play()));
}
