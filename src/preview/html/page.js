(function () {
  "use strict";
  var root = document.documentElement;
  var abouts = document.querySelectorAll(".about");
  root.classList.add("live");
  function show(id) {
    var found = false;
    abouts.forEach(function (about) {
      var is = about.id === id;
      about.classList.toggle("shown", is);
      found = found || is;
    });
    document.querySelectorAll(".flowright a").forEach(function (link) {
      var is = found && link.getAttribute("href") === "#" + id;
      link.firstElementChild.classList.toggle("picked", is);
      if (is) { link.setAttribute("aria-current", "true"); } else { link.removeAttribute("aria-current"); }
    });
    return found;
  }
  function target(event) {
    var link = event.target.closest ? event.target.closest(".flowright a") : null;
    return link ? link.getAttribute("href").slice(1) : null;
  }
  document.addEventListener("focusin", function (event) {
    var id = target(event);
    if (id) { show(id); }
  });
  document.addEventListener("click", function (event) {
    var id = target(event);
    if (id && window.matchMedia("(min-width:1000px)").matches) {
      event.preventDefault();
      show(id);
      history.replaceState(null, "", "#" + id);
    }
  });
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") { show(""); }
  });
  window.addEventListener("hashchange", function () { show(location.hash.slice(1)); });
  show(location.hash.slice(1));
})();
