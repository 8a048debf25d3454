/** Messages end up in committed files: they must not differ between machines. */

/** A path into a folder of packages, wherever that folder is; nested ones keep their inner path. */
const PACKAGE_PATH = /(?<![\w.@/-])(?:[A-Za-z]:)?(?:\.\.)?\/[^\s"'`()]*?(?<=\/)node_modules\//g;

/** Replaces where the project (real path `root`) and the packages lie by paths relative to the project. */
export function withoutHostPaths(root: string, text: string): string {
  return text.replaceAll(`${root}/`, "").replace(PACKAGE_PATH, "node_modules/");
}
