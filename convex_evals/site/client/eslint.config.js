/** These sources are held to what the Node side is held to. */
import shared from "../../node/eslint.config.js";

export default [
  ...shared,
  {
    files: ["**/*.ts"],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
  },
];
