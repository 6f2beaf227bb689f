import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, wholeNumber, withJson } from '../command.ts';
import { CREATED_KEY_FIELDS, showSecret } from './show-secret.ts';

interface Options {
  readonly grace?: number;
}

export const rotateKey = (keys: Command, perform: Perform): Command =>
  withJson(
    CREATED_KEY_FIELDS,
    keys
      .command('rotate')
      .description('Replace the secret of an API key; name, cap and history stay')
      .argument('<key-id>')
      .option('--grace <seconds>', 'how long the old secret keeps working (default: it ends at once)', wholeNumber(0)),
  ).action(perform(rotate));

async function rotate(world: CommandWorld, { args: [keyId = ''], options: { grace } }: Typed<Options>): Promise<void> {
  const client = await world.connect('session');
  const request = grace === undefined ? undefined : { grace_seconds: grace };
  const rotated = await client.keys.rotate(keyId, request, { signal: world.signal });
  const until = rotated.previous_secret_expires_at;
  const old = until === null ? 'The old secret is dead.' : `The old secret works until ${until}.`;
  showSecret(world, rotated, `Rotated "${rotated.name}" (${rotated.key_id}). ${old}`);
}
