// Filters, orders, opens and copies. Without it the page still shows everything.
(function () {
  "use strict";
  var root = document.documentElement;
  var page = document.getElementById("onecall");
  root.classList.add("scripted");
  root.lang = "en";
  if (!document.querySelector("meta[name=viewport]")) {
    var meta = document.createElement("meta");
    meta.name = "viewport";
    meta.content = "width=device-width, initial-scale=1";
    document.head.append(meta);
  }

  var all = function (selector) { return Array.from(page.querySelectorAll(selector)); };
  var table = page.querySelector("table.claims");
  var form = page.querySelector("form.tools");
  var boxes = all("input[name=verdict]");
  var claims = all("tbody.claim");
  var families = all("tbody.family");
  var byFamily = table ? Array.from(table.tBodies) : [];
  var haystack = new Map();

  function wordsOf(claim) {
    if (!haystack.has(claim)) haystack.set(claim, claim.textContent.toLowerCase());
    return haystack.get(claim);
  }

  function filter() {
    if (!form) return;
    var verdicts = new Set(boxes.filter(function (b) { return b.checked; }).map(function (b) { return b.value; }));
    var wanted = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    var family = form.elements.family.value;
    var source = form.elements.document.value;
    var shown = 0;
    claims.forEach(function (claim) {
      var about = claim.dataset;
      var fits = (verdicts.has(about.verdict) || about.verdict === "UNFINISHED") &&
        (!family || about.family === family) &&
        (!source || about.document.split(", ").includes(source)) &&
        wanted.every(function (word) { return wordsOf(claim).includes(word); });
      claim.hidden = !fits;
      shown += fits ? 1 : 0;
    });
    var grouped = form.elements.order.value === "family";
    families.forEach(function (heading) {
      var name = heading.id.slice("family-".length);
      heading.hidden = !grouped || !claims.some(function (c) { return c.dataset.family === name && !c.hidden; });
    });
    page.querySelector(".shown").textContent = shown + " of " + claims.length + " claims shown";
  }

  function order() {
    var how = form.elements.order.value;
    var keys = { verdict: "order", distance: "distance" };
    var rows = how === "family" ? byFamily : claims.slice().sort(function (a, b) {
      var key = keys[how];
      return (key ? Number(a.dataset[key]) - Number(b.dataset[key]) : 0) || (a.id < b.id ? -1 : 1);
    });
    table.append.apply(table, how === "family" ? rows : families.concat(rows));
    filter();
  }

  function setOpen(open) {
    claims.forEach(function (claim) {
      if (!claim.hidden) claim.querySelector("details").open = open;
    });
  }

  function showTarget() {
    var id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch (error) { /* the hash is taken as it is */ }
    var target = id && document.getElementById(id);
    if (!target || !page.contains(target)) return;
    if (target.hidden && form) { form.reset(); reset(); }
    if (target.classList.contains("claim")) target.querySelector("details").open = true;
    target.scrollIntoView();
  }

  function reset() {
    boxes.forEach(function (box) { box.checked = true; });
    order();
  }

  function copy(button) {
    var said = function (text) {
      button.textContent = text;
      setTimeout(function () { button.textContent = "Copy"; }, 1500);
    };
    var select = function () {
      getSelection().selectAllChildren(button.previousElementSibling);
      said(document.execCommand("copy") ? "Copied" : "Selected");
    };
    if (!navigator.clipboard) return select();
    navigator.clipboard.writeText(button.dataset.copy).then(function () { said("Copied"); }, select);
  }

  // What pytest-html writes around this page becomes one closed section below it.
  function foldTestLog() {
    var fold = document.createElement("details");
    fold.id = "test-log";
    fold.innerHTML = "<summary>Test log: each test that pytest ran, with its output</summary>";
    var ours = page.parentElement;
    document.querySelectorAll(
      "body > p, #environment-header, #environment, .summary__data > :not(.prefix), #results-table"
    ).forEach(function (element) { if (element !== ours) fold.append(element); });
    document.body.append(fold);
    fold.querySelectorAll("input.filter").forEach(function (box) {
      box.setAttribute("aria-label", box.nextElementSibling.textContent.replace(",", ""));
    });
    // Its lists end in an empty list, where only items belong.
    fold.querySelectorAll("#environment ul > ul:empty").forEach(function (list) { list.remove(); });
  }

  // What scrolls within the page has to be reached by keyboard too.
  function reachScrollers() {
    all(".samples, dl.notes dd").forEach(function (part) {
      if (part.scrollHeight > part.clientHeight && part.clientHeight) part.tabIndex = 0;
    });
  }

  var opened = [];
  addEventListener("beforeprint", function () {
    opened = all("details:not([open])");
    opened.forEach(function (details) { details.open = true; });
  });
  addEventListener("afterprint", function () {
    opened.forEach(function (details) { details.open = false; });
  });

  page.addEventListener("click", function (event) {
    var button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("copy")) copy(button);
    if (button.name === "open") setOpen(true);
    if (button.name === "close") setOpen(false);
  });
  page.addEventListener("change", function (event) {
    if (event.target.name === "order") order();
    else filter();
  });
  if (form) {
    form.addEventListener("input", filter);
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("reset", function () { setTimeout(reset); });
  }
  addEventListener("hashchange", showTarget);
  addEventListener("toggle", reachScrollers, true);
  document.addEventListener("DOMContentLoaded", function () {
    foldTestLog();
    // A browser may keep what was ticked before a reload; the list follows it.
    if (form) order();
    showTarget();
  });
})();
