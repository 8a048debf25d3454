/**
 * `process.env` of the app's code. The app sees the deployment's variables; a
 * component sees those that its parent binds, and nothing else.
 * https://docs.convex.dev/components/authoring
 */

export type Environment = Readonly<Record<string, string>>;

/** What a component's parent gives for one of its variables. */
export type EnvBinding =
  | { readonly type: "value"; readonly value: string }
  | { readonly type: "envVar"; readonly name: string };

/** What is asked of a component: which children it has, and what it gives them. */
export interface Parent {
  readonly definition: {
    readonly export: {
      readonly childComponents: readonly {
        readonly name: string;
        readonly env?: readonly (readonly [string, EnvBinding])[] | null;
      }[];
    };
  };
}

/** The variables of the component at `componentPath`, "" for the app. */
export function environmentOf(
  componentPath: string,
  app: Environment,
  components: ReadonlyMap<string, Parent>,
): Environment {
  if (componentPath === "") return app;
  const at = componentPath.lastIndexOf("/");
  const parentPath = at < 0 ? "" : componentPath.slice(0, at);
  const parent = environmentOf(parentPath, app, components);
  const child = components
    .get(parentPath)
    ?.definition.export.childComponents.find(({ name }) => name === componentPath.slice(at + 1));
  const bound = (child?.env ?? []).map(
    ([name, binding]) => [name, binding.type === "value" ? binding.value : parent[binding.name]] as const,
  );
  return Object.fromEntries(bound.filter((entry): entry is readonly [string, string] => entry[1] !== undefined));
}
