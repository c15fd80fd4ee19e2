// The theme that somebody chose on this device, or else the system's. It is set before anything
// is drawn, so this is no module. A button with data-theme-button cycles through the choices.

(() => {
  const key = "sightline-theme";
  const names = { "": "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
  const order = ["", "light", "dark"];
  const system = matchMedia("(prefers-color-scheme: light)");
  let theme = "";
  try {
    theme = localStorage.getItem(key) ?? "";
  } catch {
    // Nothing can be remembered here.
  }
  if (!order.includes(theme)) theme = "";

  const apply = () => {
    document.documentElement.dataset.theme = theme || (system.matches ? "light" : "dark");
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      button.setAttribute("aria-label", names[theme]);
      button.title = names[theme];
      button.dataset.now = theme || "auto";
    }
  };
  apply();
  system.addEventListener("change", apply);
  document.addEventListener("DOMContentLoaded", () => {
    apply();
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      button.addEventListener("click", () => {
        theme = order[(order.indexOf(theme) + 1) % order.length];
        try {
          localStorage.setItem(key, theme);
        } catch {
          // It lasts as long as the page.
        }
        apply();
      });
    }
  });
})();
