/** The switch between the system's theme, light and dark. */
import { element, recall, remember, tools } from "./dom.ts";

const KEY = "convex-evals.theme";
const THEMES = { system: "◐ Auto", light: "☀ Light", dark: "☾ Dark" } as const;
type Theme = keyof typeof THEMES;
const ORDER: readonly Theme[] = ["system", "light", "dark"];

export function applyTheme(): Theme {
  const kept = recall(KEY);
  const theme = ORDER.find((one) => one === kept) ?? "system";
  set(theme);
  return theme;
}

function set(theme: Theme): void {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function addThemeSwitch(): void {
  let theme = applyTheme();
  const button = element("button", { type: "button", class: "tool theme" });
  const show = (): void => {
    button.textContent = THEMES[theme];
    button.ariaLabel = `${THEMES[theme].slice(2)}: the theme is ${theme}; switch to ${after(theme)}`;
  };
  button.addEventListener("click", () => {
    theme = after(theme);
    set(theme);
    remember(KEY, theme === "system" ? null : theme);
    show();
  });
  show();
  tools().append(button);
}

function after(theme: Theme): Theme {
  return ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "system";
}
