import type { ModelDefinition } from '@tallygate/contract';
import type { Catalog } from './catalog.ts';
import { type CatalogModel, OWN } from './model.ts';

/** A name in a definition that nothing would ever come of. */
interface DeadName {
  readonly path: readonly (string | number)[];
  readonly fault: string;
}

interface Names {
  readonly aliases?: readonly string[] | undefined;
  readonly variants?: readonly string[] | undefined;
}

type Known = Pick<Catalog, 'all' | 'known' | 'providers'>;

/** What an administrator says of a model counts before all others, but not before an id, nor before what was said of another one first. */
export function faultOfNames(id: string, definition: ModelDefinition, catalog: Known): DeadName | undefined {
  const dead = deadNames(id, definition, catalog, (other) => other.source === 'admin')[0];
  return dead ?? (definition.provider === undefined ? undefined : faultOfProvider(definition.provider, catalog));
}

/** The names of a model that mean another one. */
export function deadNames(
  id: string,
  { aliases = [], variants = [] }: Names,
  catalog: Pick<Catalog, 'known'>,
  isBefore: (other: CatalogModel) => boolean,
): DeadName[] {
  const fault = (name: string): string | undefined => {
    const other = catalog.known(name)?.model;
    if (!other || other.id === id) return undefined;
    if (other.id === name) return 'is the id of another model, which comes first: it could never be asked for';
    const isNamed = other.aliases.includes(name) || other.variants.includes(name);
    return isNamed && isBefore(other) ? `is a name of ${other.id} already, which comes first: it could never be asked for` : undefined;
  };
  const deadIn = (field: string, names: readonly string[]) =>
    names.flatMap((name, index) => {
      const why = fault(name);
      return why === undefined ? [] : [{ path: [field, index], fault: why }];
    });
  return [...deadIn('aliases', aliases), ...deadIn('variants', variants)];
}

/** Where no provider is configured yet, any may come. */
export function faultOfProvider(name: string, { all, providers }: Pick<Known, 'all' | 'providers'>): DeadName | undefined {
  const isKnown =
    name === OWN || providers.has(name) || all.some(({ provider, sources }) => provider === name && sources.includes('shipped'));
  if (isKnown || providers.size === 0) return undefined;
  const fault = `is no provider of this gateway: those of PROVIDERS_FILE and the variables are ${[...providers].join(', ')}`;
  return { path: ['provider'], fault };
}
