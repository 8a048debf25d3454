/** What the TypeScript of this folder is held to. What graded projects are linted with is in `checker/rules.ts`. */
import tseslint from "typescript-eslint";

const TESTS = ["**/*.test.ts", "**/test/**", "**/bench/**", "backend/conformance/**"];

export default tseslint.config(
  // The last two are data: projects that are graded, and served, as models write them.
  { ignores: ["build", "**/*.bundle.*", "sample", "**/test/apps"] },
  tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      curly: ["error", "multi-line"],
      eqeqeq: ["error", "always", { null: "ignore" }],
      "max-lines": ["error", 300],
      "max-lines-per-function": ["error", 40],
      "no-param-reassign": "error",
      "object-shorthand": "error",
      "@typescript-eslint/consistent-type-imports": ["error", { disallowTypeAnnotations: false }],
      "@typescript-eslint/explicit-module-boundary-types": "error",
      "@typescript-eslint/no-deprecated": "error",
      "@typescript-eslint/no-shadow": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/prefer-readonly": "error",
      // Stack traces name the function that waits.
      "@typescript-eslint/return-await": ["error", "always"],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      // What an app throws, or passes as a name, can be anything; Convex shows it as `String` does.
      "@typescript-eslint/no-base-to-string": "off",
      // Unions end in `throw value satisfies never`.
      "@typescript-eslint/only-throw-error": "off",
      // An interface that returns a promise must reject where a plain function would throw.
      "@typescript-eslint/require-await": "off",
      // Methods are taken from prototypes on purpose: before code of an app can replace them.
      "@typescript-eslint/unbound-method": "off",
    },
  },
  {
    files: TESTS,
    rules: {
      // A test's callbacks, and tables of cases with what they cite, are read from top to bottom.
      "max-lines": "off",
      "max-lines-per-function": "off",
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", name: ["describe", "suite", "test"], package: "node:test" }] },
      ],
      // Results come from the network as JSON; what they look like is what the test asserts.
      "@typescript-eslint/no-explicit-any": "off",
      "@typescript-eslint/no-unsafe-argument": "off",
      "@typescript-eslint/no-unsafe-assignment": "off",
      "@typescript-eslint/no-unsafe-member-access": "off",
      "@typescript-eslint/no-unsafe-return": "off",
    },
  },
  { files: ["**/*.js"], extends: [tseslint.configs.disableTypeChecked] },
);
