import type { KeyResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyResponseFields } from '../generated/fields.ts';
import { type Column, printRecord } from '../print.ts';
import { KEY_ARGUMENT, meantKey } from './meant.ts';

const LINES: readonly Column<KeyResponse>[] = [
  { title: 'Id', of: ({ key_id }) => key_id },
  { title: 'Name', of: ({ name }) => name },
  { title: 'Prefix', of: ({ prefix }) => prefix },
  { title: 'Mode', of: ({ livemode }) => (livemode ? 'live' : 'test') },
  { title: 'Status', of: ({ status }) => status },
  { title: 'Scopes', of: ({ scopes }) => scopes.join(', ') },
  { title: 'Cap', of: ({ monthly_cap_usd }) => (monthly_cap_usd === null ? 'none' : `${monthly_cap_usd} USD a month`) },
  { title: 'Models', of: ({ allowed_models }) => allowed_models?.join(', ') ?? 'all' },
  { title: 'Endpoints', of: ({ allowed_endpoints }) => allowed_endpoints?.join(', ') ?? 'all' },
  { title: 'Rate limits', of: ({ rate_limits }) => ratesText(rate_limits) },
  { title: 'Signatures', of: ({ signing_public_key, require_signature }) => signaturesText(signing_public_key, require_signature) },
  {
    title: 'Metadata',
    of: ({ metadata }) =>
      Object.entries(metadata)
        .map(([name, value]) => `${name}=${value}`)
        .join(', ') || 'none',
  },
  { title: 'Created', of: ({ created_at }) => created_at },
  { title: 'Expires', of: ({ expires_at }) => expires_at ?? 'never' },
  { title: 'Rotated', of: ({ rotated_at }) => rotated_at ?? 'never' },
  { title: 'Old secret until', of: ({ previous_secret_expires_at }) => previous_secret_expires_at },
  { title: 'Revoked', of: ({ revoked_at }) => revoked_at },
  { title: 'Last used', of: ({ last_used_at }) => last_used_at ?? 'never' },
];

export const getKey = (keys: Command, perform: Perform): Command =>
  withJson(
    KeyResponseFields,
    keys
      .command('get')
      .description('Show one API key; never its secret')
      .argument(...KEY_ARGUMENT),
  ).action(perform(get));

async function get(world: CommandWorld, { args: [text = ''] }: Typed<object>): Promise<void> {
  const client = await world.connect();
  const { keyId } = await meantKey(world, client, text);
  showKey(world, await client.keys.get(keyId, { signal: world.signal }));
}

export const showKey = (world: CommandWorld, key: KeyResponse): void => printRecord(world, key, LINES);

function ratesText({ requests_per_minute, tokens_per_minute, concurrency }: KeyResponse['rate_limits']): string {
  const own = [
    requests_per_minute !== null && `${requests_per_minute} requests a minute`,
    tokens_per_minute !== null && `${tokens_per_minute} tokens a minute`,
    concurrency !== null && `${concurrency} at the same time`,
  ].filter((text) => text !== false);
  return own.join(', ') || 'the plan’s';
}

const signaturesText = (key: string | null, isRequired: boolean): string =>
  key === null ? 'no signing key' : `${isRequired ? 'required' : 'checked when sent'}, by ${key}`;
