import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../command.ts';
import { KeyCreatedResponseFields } from '../generated/fields.ts';
import { secondsUpTo } from '../option-values.ts';
import { KEY_ARGUMENT, meantKey } from './meant.ts';
import { showSecret } from './show-secret.ts';

interface Options {
  readonly grace?: number;
}

export const rotateKey = (keys: Command, perform: Perform): Command =>
  withJson(
    KeyCreatedResponseFields,
    keys
      .command('rotate')
      .description('Replace the secret of an API key; name, cap and history stay')
      .argument(...KEY_ARGUMENT)
      .option(
        '--grace <duration>',
        'how long the old secret keeps working: 30m, 1h, 7d at most (default: it ends at once)',
        secondsUpTo('7d'),
      ),
  ).action(perform(rotate));

async function rotate(world: CommandWorld, { args: [text = ''], options: { grace } }: Typed<Options>): Promise<void> {
  const client = await world.connect('session');
  const { keyId } = await meantKey(world, client, text);
  const request = grace === undefined ? undefined : { grace_seconds: grace };
  const rotated = await client.keys.rotate(keyId, request, { signal: world.signal });
  const until = rotated.previous_secret_expires_at;
  const old = until === null ? 'The old secret is dead.' : `The old secret works until ${until}.`;
  showSecret(world, rotated, `Rotated "${rotated.name}" (${rotated.key_id}). ${old}`);
}
