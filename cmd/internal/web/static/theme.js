// The theme that somebody chose on this device: set before anything is drawn, hence no
// module. A button with data-theme-button goes round: as the system, light, dark.

(() => {
  const key = "sightline-theme";
  const names = { "": "Theme: as the system", light: "Theme: light", dark: "Theme: dark" };
  const order = ["", "light", "dark"];
  let theme = "";
  try {
    theme = localStorage.getItem(key) ?? "";
  } catch {
    // Nothing can be remembered here.
  }
  if (!order.includes(theme)) theme = "";

  const apply = () => {
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    for (const button of document.querySelectorAll("[data-theme-button]")) {
      button.setAttribute("aria-label", names[theme]);
      button.title = names[theme];
      button.dataset.now = theme || "auto";
    }
  };
  apply();
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
