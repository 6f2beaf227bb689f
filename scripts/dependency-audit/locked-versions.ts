/** Names of packages with the versions that lock files hold. */
export type LockedVersions = Map<string, Set<string>>;

const ENTRY = /^ {2}'?(@?[^@'\s]+)@([^('\s]+?)(?:\(.*)?'?:$/;

/** The entries under `packages:` of a pnpm-lock.yaml. */
export function versionsInPnpmLock(text: string): [name: string, version: string][] {
  const [, packages = ''] = /^packages:\n([\s\S]*?)^\S/m.exec(`${text}\nend:`) ?? [];
  return packages.split('\n').flatMap((line): [string, string][] => {
    const [, name, version] = ENTRY.exec(line) ?? [];
    return name === undefined || version === undefined ? [] : [[name, version]];
  });
}

/** Of a package-lock.json; entries without a version are folders of our own. */
export function versionsInNpmLock(text: string): [name: string, version: string][] {
  const { packages }: { packages: Record<string, { version?: string; name?: string }> } = JSON.parse(text);
  return Object.entries(packages).flatMap(([path, entry]): [string, string][] => {
    const name = entry.name ?? path.split('node_modules/').at(-1);
    return path === '' || !name || entry.version === undefined ? [] : [[name, entry.version]];
  });
}

export function lockedVersions(entries: readonly (readonly [name: string, version: string])[]): LockedVersions {
  const versions: LockedVersions = new Map();
  for (const [name, version] of entries) versions.set(name, (versions.get(name) ?? new Set()).add(version));
  return versions;
}
