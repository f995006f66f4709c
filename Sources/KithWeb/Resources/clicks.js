// Double clicks.

const doubleMilliseconds = 500, doublePixels = 8;

let lastClick = { x: 0, y: 0, time: -Infinity, button: null };

/** The second click of a double click may hit a button that has taken the place of the one that was meant: it does nothing. */
document.addEventListener("click", (event) => {
  const button = event.target.closest("button"), { clientX: x, clientY: y, timeStamp: time, detail } = event;
  // Keys do not click twice. A note is moved step by step.
  if (!button || detail === 0 || button.dataset.move) return;
  const isSame = button === lastClick.button, isNear = Math.hypot(x - lastClick.x, y - lastClick.y) < doublePixels;
  // People press a toggle twice on purpose.
  const isSecond = isSame ? detail > 1 && !button.hasAttribute("aria-pressed") : detail > 1 || isNear;
  if (!isSecond || time - lastClick.time >= doubleMilliseconds) {
    lastClick = { x, y, time, button };
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });
