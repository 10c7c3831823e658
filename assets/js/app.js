// Run once for each language: `facts` are the language, direction and words of this run.
var root = document.documentElement;
root.lang = facts.language;
root.dir = facts.direction;
// Streamlit's sliders take their direction from React Aria, which would otherwise follow the browser's language.
window[Symbol.for("react-aria.i18n.locale")] = facts.locale;
window.dispatchEvent(new Event("languagechange"));
window.gpFacts = facts;
if (!window.gpReady) {
  window.gpReady = true;
  // Dialogs and popovers stand outside the element whose colour scheme Streamlit sets.
  var app = document.querySelector(".stApp");
  var scheme = function () {
    root.style.colorScheme = app ? getComputedStyle(app).colorScheme : "";
  };
  scheme();
  if (app) new MutationObserver(scheme).observe(app, { attributes: true, attributeFilter: ["class"] });
  var copy = function (text) {
    if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
    var area = document.createElement("textarea"); // plain http on a local network has no clipboard interface
    area.value = text;
    area.style.position = "fixed";
    area.style.opacity = 0;
    document.body.appendChild(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    return Promise.resolve();
  };
  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest("[data-gp-copy]");
    if (!button) return;
    copy(button.dataset.gpCopy || window.location.href).then(function () {
      var label = button.textContent;
      if (button.dataset.gpBusy) return;
      button.dataset.gpBusy = "1";
      button.textContent = window.gpFacts.copied;
      setTimeout(function () {
        button.textContent = label;
        delete button.dataset.gpBusy;
      }, 1600);
    });
  });
  // A formula wider than its place scrolls; it must be reachable by keyboard to be scrolled.
  new MutationObserver(function () {
    document.querySelectorAll(".katex-display:not([tabindex])").forEach(function (formula) {
      formula.tabIndex = 0;
    });
  }).observe(document.body, { childList: true, subtree: true });
}
