// Points out the way of one commit: by pointer, or with the arrow keys on the diagram.
"use strict";
for (const stage of document.querySelectorAll(".stage")) {
  const dots = [...stage.querySelectorAll(".dot")];
  const detail = document.getElementById("detail");
  const hint = detail.textContent;
  let picked = -1, isHeld = false;
  function pick(index) {
    for (const element of stage.querySelectorAll(".on")) element.classList.remove("on");
    picked = index;
    const dot = dots[index];
    stage.classList.toggle("picked", !!dot);
    detail.textContent = dot ? dot.dataset.text : hint;
    if (dot) for (const element of stage.querySelectorAll('[data-c="' + dot.dataset.c + '"]')) element.classList.add("on");
  }
  function step(by, sameLane) {
    const lane = picked < 0 ? null : dots[picked].dataset.lane;
    for (let index = picked + by; index >= 0 && index < dots.length; index += by)
      if (!sameLane || lane === null || dots[index].dataset.lane === lane) return pick(index);
  }
  stage.addEventListener("pointerover", event => {
    const index = dots.indexOf(event.target);
    if (index >= 0 && !isHeld) pick(index);
  });
  stage.addEventListener("pointerleave", () => { if (!isHeld) pick(-1); });
  stage.addEventListener("click", event => {
    const index = dots.indexOf(event.target);
    isHeld = index >= 0;
    pick(index);
  });
  stage.addEventListener("keydown", event => {
    const keys = { ArrowRight: [1], ArrowDown: [1, true], ArrowLeft: [-1], ArrowUp: [-1, true] };
    if (event.key === "Escape") { isHeld = false; pick(-1); }
    else if (event.key === "Home") pick(0);
    else if (event.key === "End") pick(dots.length - 1);
    else if (keys[event.key]) { if (picked < 0) pick(0); else step(...keys[event.key]); }
    else return;
    isHeld = picked >= 0 && event.key !== "Escape";
    event.preventDefault();
  });
}
