/**
 * The packages that `node.externalPackages` of convex.json keeps out of bundles. Convex installs them on its servers; here
 * their files go with the push, as they are installed in the project.
 */
import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { DeployError } from "./deploy_error.ts";

/** Files of packages, with forward slashes below a folder `node_modules`. */
export interface ExternalPackages {
  readonly files: readonly { readonly path: string; readonly size: number; readonly executable: boolean }[];
  /** All files, one after the other: gzip, then base64. */
  readonly contents: string;
}

// get-convex/convex-backend crates/model/src/source_packages/types.rs
const MAX_ZIPPED_BYTES = 45_000_000;
const MAX_UNZIPPED_BYTES = 230_000_000;

/** A package's folder, and where it lies below `node_modules`. */
interface Installed {
  readonly folder: string;
  readonly place: string;
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Packages of the project in `root`, with all that they depend on; undefined where there are none. */
export function externalPackages(root: string, names: readonly string[]): ExternalPackages | undefined {
  if (names.length === 0) return undefined;
  const files: ExternalPackages["files"][number][] = [];
  const contents: Buffer[] = [];
  let total = 0;
  for (const { folder, place } of withDependencies(names.map((name) => installed(root, name)))) {
    for (const name of filesOf(folder)) {
      const file = path.join(folder, name);
      const { size, mode } = statSync(file);
      total += size;
      if (total >= MAX_UNZIPPED_BYTES) throw tooLarge("unzipped", total, MAX_UNZIPPED_BYTES);
      const content = readFileSync(file);
      contents.push(content);
      files.push({ path: path.posix.join(place, name), size: content.length, executable: (mode & 0o111) !== 0 });
    }
  }
  const zipped = gzipSync(Buffer.concat(contents));
  if (zipped.length >= MAX_ZIPPED_BYTES) throw tooLarge("zipped", zipped.length, MAX_ZIPPED_BYTES);
  return { files, contents: zipped.toString("base64") };
}

function tooLarge(what: string, bytes: number, most: number): DeployError {
  const text = (size: number): string => `${(size / 2 ** 20).toFixed(2)} MiB`;
  return new DeployError(
    `Total module size exceeded the ${what} maximum (${text(bytes)} > maximum size ${text(most)})`,
  );
}

function installed(root: string, name: string): Installed {
  const folder = realpathSync(path.join(root, "node_modules", name));
  const inPlace = path.join(path.sep, "node_modules", name);
  if (!folder.endsWith(inPlace)) throw new DeployError(`node_modules/${name} is a link to a folder of another name`);
  return { folder, place: name };
}

function withDependencies(packages: readonly Installed[]): Installed[] {
  const found = new Map(packages.map((each) => [each.folder, each]));
  // What is added meanwhile is visited too.
  for (const each of found.values()) {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(each);
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const dependency = dependencyOf(each, name);
      if (dependency && !found.has(dependency.folder)) found.set(dependency.folder, dependency);
    }
  }
  return [...found.values()].sort((a, b) => (a.place < b.place ? -1 : 1));
}

function manifestOf({ folder, place }: Installed): Manifest {
  try {
    return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
  } catch {
    throw new DeployError(`node_modules/${place}/package.json is missing or is not JSON`);
  }
}

/** Where Node.js finds a package that another one imports; undefined for one that is not installed. */
function dependencyOf({ folder, place }: Installed, name: string): Installed | undefined {
  const top = folder.slice(0, -place.length);
  for (let below = place; ; below = path.posix.dirname(below)) {
    const isPackages = below === "." || below.endsWith("/node_modules");
    const candidate = path.posix.join(below, isPackages ? "" : "node_modules", name);
    if (existsSync(path.join(top, candidate, "package.json"))) {
      const real = path.join(realpathSync(top), candidate);
      return realpathSync(real) === real ? { folder: real, place: candidate } : undefined;
    }
    if (below === ".") return undefined;
  }
}

/** A package's own files, in order: neither links nor other packages. */
function filesOf(folder: string, below = ""): string[] {
  const entries = readdirSync(path.join(folder, below), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const name = path.posix.join(below, entry.name);
      if (entry.isDirectory()) return entry.name === "node_modules" ? [] : filesOf(folder, name);
      return entry.isFile() ? [name] : [];
    });
}
