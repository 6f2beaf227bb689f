import type { KeyCreatedResponse } from '@tallygate/sdk';
import type { CommandWorld } from '../command.ts';
import { plainText, printRecord } from '../print.ts';

export const KEY_FIELDS = [
  'key_id',
  'name',
  'prefix',
  'livemode',
  'scopes',
  'status',
  'monthly_cap_usd',
  'allowed_models',
  'allowed_endpoints',
  'rate_limits',
  'metadata',
  'signing_public_key',
  'require_signature',
  'created_at',
  'expires_at',
  'rotated_at',
  'previous_secret_expires_at',
  'revoked_at',
  'last_used_at',
];
export const CREATED_KEY_FIELDS = ['key', ...KEY_FIELDS];

/**
 * Prints the plain key once: alone on stdout, so that `KEY=$(tallygate keys create …)` takes it and nothing else, with the remark on
 * stderr. With `--json`, where the fields are chosen by the caller, it is in the JSON or not at all.
 */
export function showSecret(world: CommandWorld, created: KeyCreatedResponse, remark: string): void {
  if (world.jsonFields === undefined) world.out.write(`${created.key}\n`);
  else printRecord(world, created, []);
  const isShown = world.jsonFields?.includes('key') ?? true;
  world.err.write(
    plainText(`${remark} ${isShown ? 'Store the key now: it is not shown again.' : 'Its secret was not asked for and is lost.'}\n`),
  );
}
