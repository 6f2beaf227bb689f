import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly purl: string } };
  readonly components: readonly { readonly purl: string }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

/** What a package has inside and does not ask for: the largest parts of it. */
const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  tallygate: ['commander'],
  'tallygate-server': ['express', 'pg', 'undici', 'react', '@mikro-orm/core', 'stripe'],
};

/** @returns what an installed package does not say, or says wrongly, of what it is built of */
export function sbomFaults(folder: string): string[] {
  const { name, version, dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const path = join(folder, 'sbom.cdx.json');
  if (!existsSync(path)) return [`${name} has no sbom.cdx.json`];
  const sbom: Sbom = JSON.parse(readFileSync(path, 'utf8'));
  const { components, metadata } = sbom;
  const known = new Set([metadata.component.purl, ...components.map(({ purl }) => purl)]);
  const namedOf = (library: string) => [...known].some((purl) => purl.startsWith(`pkg:npm/${library.replace('@', '%40')}@`));
  const missing = [...Object.keys(dependencies), ...(BUILT_IN[name] ?? [])].filter((library) => !namedOf(library));
  const unknown = sbom.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]).filter((ref) => !known.has(ref));
  const own = metadata.component.purl === `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return [
    ...(sbom.bomFormat === 'CycloneDX' && own ? [] : [`the SBOM of ${name} is that of ${metadata.component.purl}`]),
    ...missing.map((library) => `the SBOM of ${name} has no ${library}`),
    ...unknown.map((ref) => `the SBOM of ${name} names ${ref}, which it does not have`),
  ];
}
