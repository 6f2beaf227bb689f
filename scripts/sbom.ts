// What a published package is built of and depends on, as CycloneDX by the lockfile: `sbom.cdx.json` in the package, for programs that look for
// components with known faults.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Component {
  readonly name: string;
  readonly purl: string;
  readonly 'bom-ref': string;
}

interface Sbom {
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Package {
  readonly folder: string;
  /** The parts of this workspace whose dependencies it brings along or asks for. */
  readonly parts: readonly string[];
  /** Libraries for development that its bundle has inside. */
  readonly builtIn?: readonly string[];
}

const root = join(import.meta.dirname, '..');

const PACKAGES: Readonly<Record<string, Package>> = {
  '@tallygate/receipts': { folder: 'packages/receipts', parts: ['packages/receipts'] },
  '@tallygate/sdk': { folder: 'sdk', parts: ['sdk'] },
  tallygate: { folder: 'cli', parts: ['cli', 'packages/receipt-anchor'], builtIn: ['commander'] },
  'tallygate-server': { folder: 'packages/tallygate-server', parts: ['server', 'console'] },
};

/** @param names of packages that are built */
export function writeSboms(names: readonly string[]): void {
  for (const name of names) {
    const described = PACKAGES[name];
    if (!described) throw new Error(`Nothing says what ${name} is built of`);
    writeFileSync(join(root, described.folder, 'sbom.cdx.json'), `${JSON.stringify(sbomOf(name, described), null, 2)}\n`);
  }
}

function sbomOf(name: string, { folder, parts, builtIn = [] }: Package): Sbom {
  const { version, description, devDependencies } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const purl = purlOf(name, version);
  const sboms = parts.map((part) => sbomOfPart(part, ['--prod']));
  const [first] = sboms;
  if (!first) throw new Error(`${name} is built of nothing`);
  const wanted = builtIn.map((library) => purlOf(library, devDependencies[library]));
  const bundled = wanted.length > 0 ? sbomOfPart(folder, []).components.filter((one) => wanted.includes(one.purl)) : [];
  const components = uniqueBy('bom-ref', [...sboms.flatMap((one) => one.components), ...bundled]).filter((one) => one.purl !== purl);
  const roots = new Set(sboms.map(({ metadata }) => metadata.component['bom-ref']));
  const links = uniqueBy(
    'ref',
    sboms.flatMap((one) => one.dependencies),
  );
  const direct = links.filter(({ ref }) => roots.has(ref)).flatMap(({ dependsOn = [] }) => dependsOn);
  const dependsOn = [...new Set([...direct, ...bundled.map((one) => one['bom-ref'])])].filter((ref) => ref !== purl);
  const component = { type: 'application', name, version, purl, 'bom-ref': purl, description, licenses: [{ license: { id: 'MIT' } }] };
  return {
    ...first,
    metadata: { ...first.metadata, component },
    components,
    dependencies: [{ ref: purl, dependsOn }, ...links.filter(({ ref }) => !roots.has(ref))],
  };
}

function sbomOfPart(part: string, options: readonly string[]): Sbom {
  const args = [`--filter=./${part}`, 'sbom', ...options, '--lockfile-only', '--sbom-format', 'cyclonedx'];
  const { status, stdout, stderr, error } = spawnSync('pnpm', args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: Number.POSITIVE_INFINITY,
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw new Error(`${stderr ?? ''}${error?.message ?? ''}\npnpm ${args.join(' ')} failed.`);
  return JSON.parse(stdout);
}

const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

const uniqueBy = <K extends PropertyKey, T extends Readonly<Record<K, string>>>(key: K, items: readonly T[]): T[] => [
  ...new Map(items.map((item) => [item[key], item])).values(),
];
