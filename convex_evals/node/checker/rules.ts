/**
 * Which lint rules judge a project, as data: the documentation is generated from this table.
 *
 * The recommended rules of ESLint and typescript-eslint (type-checked) are all here, kept or dropped. A rule is kept
 * when what it finds is wrong at run time or hides what is wrong; an answer that is right but unusual must pass.
 */

/** Where a rule applies: in the functions folder, in the client (`src/`), in both, or not at all. */
export type Scope = "everywhere" | "functions" | "client" | "never";

/** One rule with its options, and why it is kept or dropped. */
export interface Rule {
  name: string;
  scope: Scope;
  reason: string;
  options?: readonly unknown[];
}

type Row = readonly [name: string, scope: Scope, reason: string, options?: readonly unknown[]];

function rules(prefix: string, rows: readonly Row[]): Rule[] {
  return rows.map(([name, scope, reason, options]) => ({
    name: prefix + name,
    scope,
    reason,
    ...(options ? { options } : {}),
  }));
}

const COMPILER = "the type check reports it";

/** eslint:recommended, and what typescript-eslint's recommended set adds of ESLint's own rules. */
const ESLINT: readonly Row[] = [
  ["constructor-super", "never", COMPILER],
  ["for-direction", "everywhere", "a loop whose counter runs the wrong way never ends or never starts"],
  ["getter-return", "never", COMPILER],
  ["no-async-promise-executor", "everywhere", "an error thrown in the executor is lost"],
  ["no-case-declarations", "never", "style: the declaration works"],
  ["no-class-assign", "never", COMPILER],
  ["no-compare-neg-zero", "everywhere", "the comparison does not do what it says"],
  [
    "no-cond-assign",
    "everywhere",
    "an assignment where a comparison is meant; extra parentheses say that it is intended",
  ],
  ["no-const-assign", "never", COMPILER],
  [
    "no-constant-binary-expression",
    "everywhere",
    "an operand that is always or never used: a wrong precedence or a forgotten call",
  ],
  [
    "no-constant-condition",
    "everywhere",
    "a branch that can never be taken; loops are left alone, `while (true)` is an idiom",
    [{ checkLoops: "none" }],
  ],
  ["no-control-regex", "never", "control characters in a pattern can be meant"],
  ["no-debugger", "never", "harmless on a server"],
  ["no-delete-var", "never", COMPILER],
  ["no-dupe-args", "everywhere", "the first of the two can never be read"],
  ["no-dupe-class-members", "never", COMPILER],
  ["no-dupe-else-if", "everywhere", "the second branch can never be taken"],
  ["no-dupe-keys", "everywhere", "the first value is lost"],
  ["no-duplicate-case", "everywhere", "the second case can never be reached"],
  ["no-empty", "never", "style: an empty block can be meant"],
  ["no-empty-character-class", "everywhere", "the pattern matches nothing"],
  ["no-empty-pattern", "never", "`handler: async (ctx, {}) =>` is common for functions without arguments"],
  ["no-empty-static-block", "never", "style"],
  ["no-ex-assign", "never", "style: unusual, but it works"],
  ["no-extra-boolean-cast", "never", "style"],
  ["no-fallthrough", "never", "falling through can be meant, and only a comment in the right form would say so"],
  ["no-func-assign", "never", COMPILER],
  ["no-global-assign", "everywhere", "replaces something that other code relies on"],
  ["no-import-assign", "never", COMPILER],
  ["no-invalid-regexp", "everywhere", "throws when it is reached"],
  ["no-irregular-whitespace", "never", "style: invisible, and without effect"],
  ["no-loss-of-precision", "everywhere", "the number is not the one that is written"],
  ["no-misleading-character-class", "everywhere", "the pattern matches half a character"],
  ["no-new-native-nonconstructor", "never", COMPILER],
  ["no-nonoctal-decimal-escape", "never", COMPILER],
  ["no-obj-calls", "never", COMPILER],
  ["no-octal", "never", COMPILER],
  ["no-prototype-builtins", "never", "only wrong for objects without a prototype, which Convex values are not"],
  ["no-redeclare", "never", COMPILER],
  ["no-regex-spaces", "never", "style"],
  ["no-self-assign", "everywhere", "has no effect: the wrong name on one side"],
  ["no-setter-return", "never", COMPILER],
  ["no-shadow-restricted-names", "everywhere", "`undefined` or `NaN` with another meaning"],
  ["no-sparse-arrays", "everywhere", "a hole is a slip of the comma, and Convex values have none"],
  ["no-this-before-super", "never", COMPILER],
  ["no-unassigned-vars", "never", "harmless: the variable is undefined, and its type says so"],
  ["no-undef", "never", COMPILER],
  ["no-unexpected-multiline", "everywhere", "two lines that are read as one expression"],
  ["no-unreachable", "never", "dead code does no harm; a closing `throw` after an exhausted switch is an idiom"],
  ["no-unsafe-finally", "everywhere", "a `return` in `finally` swallows the error"],
  ["no-unsafe-negation", "everywhere", "`!a in b` negates the wrong thing"],
  ["no-unsafe-optional-chaining", "everywhere", "throws exactly when the chain was needed"],
  ["no-unused-labels", "never", "style"],
  ["no-unused-private-class-members", "never", "style"],
  ["no-unused-vars", "never", "style: an unused name does no harm"],
  ["no-useless-assignment", "never", "style: a value that nobody reads does no harm"],
  ["no-useless-backreference", "everywhere", "the group can never have matched"],
  ["no-useless-catch", "never", "style: it rethrows what was thrown"],
  ["no-useless-escape", "never", "style"],
  ["no-with", "never", COMPILER],
  ["preserve-caught-error", "never", "style: a ConvexError has no place for a cause"],
  ["require-yield", "never", "style: an empty generator works"],
  ["use-isnan", "everywhere", "a comparison with NaN is never true"],
  ["valid-typeof", "everywhere", "a misspelt type name never matches"],
  ["no-var", "never", "style"],
  ["prefer-const", "never", "style"],
  ["prefer-rest-params", "never", "style"],
  ["prefer-spread", "never", "style"],
];

/** typescript-eslint's type-checked recommended rules. */
const TYPESCRIPT_ESLINT: readonly Row[] = [
  ["await-thenable", "everywhere", "awaits something that is no promise: the call that returns one was forgotten"],
  [
    "ban-ts-comment",
    "everywhere",
    "hides errors from the type check; `@ts-expect-error` stays allowed, as it must be right about the line",
    [{ "ts-ignore": true, "ts-nocheck": true, "ts-expect-error": false, "ts-check": false }],
  ],
  ["no-array-constructor", "never", "style"],
  ["no-array-delete", "everywhere", "leaves a hole, which no Convex value may have"],
  ["no-base-to-string", "never", "cannot see that a union is narrowed to what prints well"],
  ["no-duplicate-enum-values", "never", "two names for one value can be meant"],
  ["no-duplicate-type-constituents", "never", "style"],
  ["no-empty-object-type", "never", "style"],
  ["no-explicit-any", "never", "style: the type check judges what is done with it"],
  ["no-extra-non-null-assertion", "never", "style"],
  [
    "no-floating-promises",
    "functions",
    "a function that returns before its writes are done loses them; in a React client, a call that nobody awaits is how buttons work",
  ],
  ["no-for-in-array", "everywhere", "gives indexes as strings, not elements"],
  ["no-implied-eval", "everywhere", "Convex refuses to run code from strings"],
  ["no-misused-new", "never", "style: about interfaces, not about what runs"],
  [
    "no-misused-promises",
    "functions",
    "`if (promise)` and `forEach(async ...)` do not wait; callbacks in attributes, properties and returned functions may be async",
    [
      {
        checksVoidReturn: {
          arguments: true,
          attributes: false,
          properties: false,
          returns: false,
          variables: false,
          inheritedMethods: false,
        },
      },
    ],
  ],
  ["no-namespace", "never", "style"],
  [
    "no-non-null-asserted-optional-chain",
    "never",
    "an assertion like any other; the author may know more than the compiler",
  ],
  ["no-redundant-type-constituents", "never", "style"],
  ["no-require-imports", "never", "`require` works where it is bundled, and bundling reports it where it does not"],
  ["no-this-alias", "never", "style"],
  ["no-unnecessary-type-assertion", "never", "style: what is unnecessary depends on the compiler's version"],
  ["no-unnecessary-type-constraint", "never", "style"],
  ["no-unsafe-argument", "never", "follows from any, see no-explicit-any"],
  ["no-unsafe-assignment", "never", "follows from any, see no-explicit-any"],
  ["no-unsafe-call", "never", "follows from any, see no-explicit-any"],
  ["no-unsafe-declaration-merging", "never", "style: about declarations, not about what runs"],
  ["no-unsafe-enum-comparison", "never", "an enum compared with its own value works"],
  ["no-unsafe-function-type", "never", "style"],
  ["no-unsafe-member-access", "never", "follows from any, see no-explicit-any"],
  ["no-unsafe-return", "never", "follows from any, see no-explicit-any"],
  ["no-unsafe-unary-minus", "everywhere", "the minus of something that is no number is NaN"],
  [
    "no-unused-expressions",
    "everywhere",
    "an expression without effect is a forgotten call; short circuits and ternaries that call something are left alone",
    [{ allowShortCircuit: true, allowTernary: true, allowTaggedTemplates: true }],
  ],
  ["no-unused-vars", "never", "style: an unused name does no harm"],
  ["no-wrapper-object-types", "never", "style"],
  [
    "only-throw-error",
    "everywhere",
    "a thrown string reaches the client without message and stack; what was caught may be thrown again",
    [{ allowThrowingAny: true, allowThrowingUnknown: true }],
  ],
  ["prefer-as-const", "never", "style"],
  ["prefer-namespace-keyword", "never", "style"],
  [
    "prefer-promise-reject-errors",
    "everywhere",
    "as only-throw-error",
    [{ allowThrowingAny: true, allowThrowingUnknown: true }],
  ],
  ["require-await", "never", "handlers are async by convention"],
  ["restrict-plus-operands", "never", "what is wrong here is a type error too"],
  ["restrict-template-expressions", "never", "style: numbers and ids print well"],
  ["triple-slash-reference", "never", "the type check needs them in Vite's own template"],
  ["unbound-method", "never", "Convex hands out functions that need no object, and the rule cannot know"],
];

/** eslint-plugin-react-hooks, without the rules of the React compiler, which is not used here. */
const REACT_HOOKS: readonly Row[] = [
  ["rules-of-hooks", "client", "a hook that is called conditionally breaks the component's state"],
  ["exhaustive-deps", "never", "a heuristic: leaving out what never changes is right"],
];

/** Every rule that was considered, in the order of the tables above. */
export const RULES: readonly Rule[] = [
  ...rules("", ESLINT),
  ...rules("@typescript-eslint/", TYPESCRIPT_ESLINT),
  ...rules("react-hooks/", REACT_HOOKS),
];
