import type { KeyResponse, Tallygate } from '@tallygate/sdk';
import { isClose } from '../close-names.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import type { World } from '../world.ts';

/** The help of every argument that names a key. */
export const KEY_ARGUMENT = ['<key>', 'id, prefix or name'] as const;

/** The key that an argument names, and how a sentence speaks of it. */
export interface MeantKey {
  readonly keyId: string;
  readonly label: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const MOST_LISTED = 10;

/**
 * The key with this id, prefix or name. An id is taken as it is, so that it needs no right to list keys; among keys of the same name the
 * ones that still work are meant.
 */
export async function meantKey({ signal }: Pick<World, 'signal'>, client: Tallygate, text: string): Promise<MeantKey> {
  if (UUID.test(text)) return { keyId: text, label: text };
  const keys = await client.keys.list({ signal });
  const named = keys.filter(({ prefix, name }) => prefix === text || name === text);
  const working = named.filter(({ status }) => status !== 'revoked');
  const [meant, ...others] = working.length > 0 ? working : named;
  if (meant === undefined) throw unknownKey(text, keys);
  if (others.length > 0) throw ambiguousKey(text, [meant, ...others]);
  return { keyId: meant.key_id, label: `"${meant.name}" (${meant.key_id})` };
}

function unknownKey(text: string, keys: readonly KeyResponse[]): Failure {
  const names = [...new Set(keys.filter(({ status }) => status !== 'revoked').map(({ name }) => name))];
  const close = names.filter((name) => isClose(name.toLowerCase(), text.toLowerCase()));
  const offered = close.length > 0 ? `Did you mean ${quoted(close).join(' or ')}?` : `The keys are named ${quoted(names).join(', ')}.`;
  const nextStep =
    names.length === 0 ? 'Create one with `tallygate keys create --name NAME`.' : `${offered} \`tallygate keys list\` shows them all.`;
  return new Failure('key_not_found', `There is no key with the id, prefix or name "${text}".`, EXIT.failure, nextStep);
}

const quoted = (names: readonly string[]): string[] => names.slice(0, MOST_LISTED).map((name) => `"${name}"`);

function ambiguousKey(text: string, keys: readonly KeyResponse[]): Failure {
  const ids = keys.slice(0, MOST_LISTED).map(({ key_id, prefix }) => `${key_id} (${prefix})`);
  return new Failure(
    'key_ambiguous',
    `${keys.length} keys are named "${text}".`,
    EXIT.usage,
    `Give the id or the prefix: ${ids.join(', ')}.`,
  );
}
