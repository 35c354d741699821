// Liveness alone: every page works without this. It posts forms as they change, asks how far the work is, and exchanges
// the parts of a page that are marked data-swap when the server has something else to show.
"use strict";
(() => {
  document.documentElement.classList.add("scripted");
  const element = (id) => document.getElementById(id);
  let asked = 0;      // the last request for a page: an answer to a former one comes too late
  let posting = 0;    // posts under way
  let failures = 0;
  let stamp = Number(document.body.dataset.stamp);
  let announced = -1;
  let spoken = "";    // the verdict that was said last

  const isText = (one) => one && one.matches("input:not([type=checkbox]):not([type=radio]), textarea");

  // What a person has set and the server does not know of: ticks, unfolded parts, the text in a field that has focus.
  function carried(part) {
    const kept = [];
    for (const one of part.querySelectorAll("details[id]")) kept.push([one.id, "open", one.open]);
    for (const one of part.querySelectorAll("[data-idle][type=checkbox]")) kept.push([one.id, "checked", one.checked]);
    for (const one of part.querySelectorAll("select[data-idle], #note")) kept.push([one.id, "value", one.value]);
    for (const one of part.querySelectorAll("form[data-draft=typed] [id]:is(input:not([type=hidden]), select, textarea)"))
      kept.push([one.id, one.matches("[type=checkbox], [type=radio]") ? "checked" : "value", one[one.matches("[type=checkbox], [type=radio]") ? "checked" : "value"]]);
    for (const one of part.querySelectorAll("form[data-draft=typed][id]")) kept.push([one.id, "draft", "typed"]);
    return kept;
  }

  const partsOf = (node) => [...node.querySelectorAll("[data-swap]")].filter((one) => one.parentElement.closest("[data-swap]") === node);

  // A part is exchanged whole, but for one in which somebody types: there, and in the page, only the parts within it.
  function patch(old, fresh) {
    if (old.closest("form[data-draft=typed] .field")) return;  // posted with others, when somebody says so
    const active = document.activeElement;
    const within = active && active !== document.body && old.contains(active);
    const typing = within && isText(active);
    const isPage = "page" in old.dataset, isSame = old.dataset.page === fresh.dataset.page;
    const parts = partsOf(old), others = new Map(partsOf(fresh).map((one) => [one.id, one]));
    const matching = isSame && parts.length > 0 && parts.length === others.size && parts.every((one) => others.has(one.id));
    if (matching && (isPage || typing)) for (const one of parts) patch(one, others.get(one.id));
    else if (isPage || !typing) replace(old, fresh, active, within);
    if (!typing || isPage) return;
    const other = fresh.querySelector(`[id="${active.id}"]`);
    for (const name of ["aria-invalid", "aria-describedby"]) {
      if (other && other.hasAttribute(name)) active.setAttribute(name, other.getAttribute(name));
      else active.removeAttribute(name);
    }
  }

  function replace(old, fresh, active, within) {
    const kept = carried(old);
    old.replaceWith(fresh);
    for (const [id, name, value] of kept) {
      const one = element(id);
      if (one && name === "draft") one.dataset.draft = value;
      else if (one && (name !== "open" || value || !one.querySelector("[aria-invalid]"))) one[name] = value;
    }
    if (within) (element(active.id) || element("main")).focus({ preventScroll: true });
  }

  function show(text, mine, posted, whole) {
    if (mine !== asked) return;
    const fresh = new DOMParser().parseFromString(text, "text/html");
    if (!fresh.body.dataset.stamp) return;
    const numbers = () => { for (const one of document.querySelectorAll("input[name=number]")) one.value = fresh.body.dataset.number; };
    // What was changed meanwhile and is not posted yet would be lost with the page; the answer to that post is shown.
    // Not so of undo: what is posted after it must not bring back what was undone.
    const more = !whole && (waiting !== 0 || posting > (posted ? 1 : 0));
    const isOther = element("main").dataset.page !== fresh.getElementById("main").dataset.page;
    if (more && !isOther) return numbers();
    stamp = Number(fresh.body.dataset.stamp);
    // What was refused stays beside its reason until somebody posts again; only the header goes on.
    const stays = !posted && "refused" in document.body.dataset;
    if (posted) document.body.toggleAttribute("data-refused", "refused" in fresh.body.dataset);
    const focus = posted && fresh.querySelector("main [autofocus]");
    for (const one of fresh.querySelectorAll("[autofocus]")) one.removeAttribute("autofocus");
    for (const id of stays ? ["top"] : isOther ? ["top", "main", "helping"] : ["top", "main"]) patch(element(id), fresh.getElementById(id));
    if (stays) return;
    numbers();
    document.title = fresh.title;
    if (focus && focus.isConnected) focus.focus();
    filter();
    const verdict = document.querySelector("#verdict:not(.former) h2");
    if (verdict && verdict.textContent !== spoken) element("said").textContent = spoken = verdict.textContent;
  }

  async function ask(url, options, posted, whole) {
    const mine = ++asked;
    try {
      const answer = await fetch(url, { ...options, headers: { "X-Script": "1" } });
      const text = await answer.text();
      failures = 0;
      element("gone").hidden = true;
      if (answer.redirected && new URL(answer.url).pathname !== location.pathname) location.assign(answer.url);
      else show(text, mine, posted, whole);
    } catch { failed(); }
  }

  function failed() {
    failures += 1;
    if (failures > 1) element("gone").hidden = false;
  }

  // Forms that are posted as they change, one after the other: each carries the number that the last answer gave.
  let chain = Promise.resolve();
  function post(form, button) {
    posting += 1;
    chain = chain.then(async () => {
      const now = (form.id && element(form.id)) || form;
      const found = button && button.id && element(button.id);
      const pressed = found && found.form === now ? found : button && button.form === now ? button : undefined;
      if (button && (!pressed || pressed.disabled)) return;  // it went away meanwhile
      const body = new URLSearchParams(new FormData(now, pressed));
      await ask((pressed && pressed.getAttribute("formaction")) || now.getAttribute("action"), { method: "POST", body }, true, now.matches(".undo"));
      const isDone = pressed && pressed.id === "bulk" && !("refused" in document.body.dataset);
      if (isDone) for (const one of document.querySelectorAll("[name=row]:checked")) one.checked = false;
    }).catch(failed).finally(() => { posting -= 1; });
  }
  let waiting = 0;
  function later(form, pause) {
    clearTimeout(waiting);
    waiting = setTimeout(() => { waiting = 0; post(form); }, pause);
  }
  document.addEventListener("input", (event) => {
    if (event.target.id === "filter") return filter();
    const draft = event.target.closest("form[data-draft]");
    if (draft) draft.dataset.draft = "typed";
    const form = event.target.closest("form[data-live]");
    if (form && !("idle" in event.target.dataset)) later(form, isText(event.target) ? 350 : 0);
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-live], .undo, .job form, #keep, #keeping form")) return;
    event.preventDefault();
    clearTimeout(waiting);
    waiting = 0;
    post(form, event.submitter || undefined);
  });
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isText(document.activeElement)) return;
    const button = element(event.shiftKey ? "redo" : "undo");
    if (button && !button.disabled) { event.preventDefault(); button.click(); }
  });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    const text = element(button.dataset.copy);
    text.select();
    navigator.clipboard.writeText(text.value).then(() => { element("said").textContent = button.textContent = "Copied"; }, () => {});
  });

  // The history lies over the page: it folds when somebody goes elsewhere, so that it hides nothing that has focus.
  for (const kind of ["focusin", "click"]) document.addEventListener(kind, ({ target }) => {
    const steps = element("steps");
    if (steps && target.isConnected && !steps.contains(target)) steps.open = false;
  });

  function filter() {
    const field = element("filter");
    if (!field) return;
    const wanted = field.value.trim().toLowerCase();
    for (const row of document.querySelectorAll("table.columns tbody tr"))
      row.hidden = wanted !== "" && !row.querySelector("th").textContent.toLowerCase().includes(wanted);
  }

  function progress(job) {
    const bar = element("bar");
    if (!bar) return;
    if (job.percent === null) bar.removeAttribute("value");
    else bar.value = job.percent;
    element("left").textContent = job.left ? `${job.left} s left` : "";
    const quarter = job.percent === null ? -1 : Math.floor(job.percent / 25);
    if (quarter > announced && quarter >= 0) element("said").textContent = `${job.title}: ${quarter * 25} %`;
    announced = quarter;
  }

  async function watch() {
    let pause = 1000;
    try {
      const answer = await fetch("/job");
      if (!answer.ok) throw new Error();
      const job = await answer.json();
      failures = 0;
      element("gone").hidden = true;
      if (job.state !== "idle" && job.state !== "failed") { progress(job); pause = 150; }
      const place = document.querySelector("[data-place]");  // of a page that was posted for
      if (job.stamp !== stamp && !posting) await ask(place ? place.dataset.place : location.href, {}, false);
    } catch { failed(); }
    setTimeout(watch, document.hidden ? 3000 : pause);
  }

  // What was typed before this ran is not lost.
  for (const form of document.querySelectorAll("form[data-draft]"))
    for (const one of form.elements)
      if ((isText(one) && one.value !== one.defaultValue) || one.checked !== one.defaultChecked) form.dataset.draft = "typed";
  for (const form of document.querySelectorAll("form[data-live]"))
    for (const one of form.elements)
      if (!("idle" in one.dataset) && isText(one) && one.type !== "hidden" && one.value !== one.defaultValue) { later(form, 0); break; }
  watch();
})();
