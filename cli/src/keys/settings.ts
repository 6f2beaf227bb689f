import type { InferenceEndpoint, Scope } from '@tallygate/sdk';
import { type Command, InvalidArgumentError } from 'commander';
import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { ScopeValues } from '../generated/fields.ts';
import { readText } from '../given-file.ts';
import {
  listOf,
  type Moment,
  moment,
  nullIfNone,
  type OrNone,
  orNone,
  pairs,
  repeatedList,
  timeText,
  wholeNumber,
} from '../option-values.ts';

/** The options of a key at its creation and later. Each option that can be removed has a word for that. */
export interface SettingsOptions {
  readonly scopes?: Scope[];
  readonly expires?: OrNone<Moment>;
  readonly model?: OrNone<string[]>;
  readonly endpoint?: OrNone<InferenceEndpoint[]>;
  readonly rpm?: OrNone<number>;
  readonly tpm?: OrNone<number>;
  readonly concurrency?: OrNone<number>;
  readonly metadata?: Record<string, string>;
  readonly signingKey?: OrNone<string>;
  readonly requireSignature?: boolean;
}

function scopes(text: string): Scope[] {
  return listOf(text).map((wanted) => {
    const scope = ScopeValues.find((each) => each === wanted);
    if (scope === undefined) throw new InvalidArgumentError(`There is no scope "${wanted}". The scopes are ${ScopeValues.join(', ')}.`);
    return scope;
  });
}

export const withSettings = (command: Command): Command =>
  command
    .option('--scopes <list>', `what it may do, comma-separated: ${ScopeValues.join(', ')}`, scopes)
    .option('--expires <time>', 'when it stops working: a time, a day, a duration such as 30d, or never', orNone('never', moment))
    .option('--model <id>', 'the only models it may use (repeatable), or all', orNone('all', repeatedList))
    .option('--endpoint <path>', 'the only endpoints it may spend on (repeatable), or all', orNone('all', repeatedList))
    .option('--rpm <n>', 'requests per minute, or plan for the plan’s', orNone('plan', wholeNumber()))
    .option('--tpm <n>', 'tokens per minute, or plan', orNone('plan', wholeNumber()))
    .option('--concurrency <n>', 'requests at the same time, or plan', orNone('plan', wholeNumber()))
    .option('--metadata <name=value>', 'your own notes (repeatable); all of them are replaced, none removes them', pairs)
    .option(
      '--signing-key <key>',
      'Ed25519 public key for signed requests: a PEM file or base64url; none removes it',
      orNone('none', (text: string) => text),
    )
    .option('--require-signature', 'refuse requests that are not signed')
    .option('--no-require-signature', 'accept them');

/** The part of the request that the options speak of; what they leave out is left out. */
export async function settingsOf(world: CommandWorld, options: SettingsOptions) {
  const { scopes, rpm, tpm, concurrency, metadata, requireSignature } = options;
  const hasRates = rpm !== undefined || tpm !== undefined || concurrency !== undefined;
  const expires = nullIfNone(options.expires);
  const signingKey = nullIfNone(options.signingKey);
  return {
    scopes,
    expires_at: expires && timeText(expires, world.now()),
    allowed_models: nullIfNone(options.model),
    allowed_endpoints: nullIfNone(options.endpoint),
    rate_limits: hasRates
      ? { requests_per_minute: nullIfNone(rpm), tokens_per_minute: nullIfNone(tpm), concurrency: nullIfNone(concurrency) }
      : undefined,
    metadata,
    signing_public_key: signingKey && (await rawPublicKey(world, signingKey)),
    require_signature: requireSignature,
  };
}

/** The 32 bytes in base64url, given so or as a PEM file. Of a private key in the file only its public half leaves this computer. */
async function rawPublicKey(world: CommandWorld, given: string): Promise<string> {
  if (/^[A-Za-z0-9_-]{43}$/.test(given)) return given;
  const pem = await readText(world, given, HOW_TO_MAKE_ONE);
  const { crv, x } = (await jwkOf(pem)) ?? {};
  if (crv === 'Ed25519' && x !== undefined) return x;
  throw new Failure('signing_key_unreadable', `${given} holds no Ed25519 key in PEM.`, EXIT.failure, HOW_TO_MAKE_ONE);
}

const HOW_TO_MAKE_ONE = 'Make one with `openssl genpkey -algorithm ed25519 -out key.pem`, and give that file.';

async function jwkOf(pem: string) {
  const { createPublicKey } = await import('node:crypto');
  try {
    return createPublicKey(pem).export({ format: 'jwk' });
  } catch {
    return undefined;
  }
}
