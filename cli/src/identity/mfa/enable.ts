import type { MfaBeginResponse, MfaStatusResponse } from '@tallygate/sdk';
import type { Command } from 'commander';
import { type CommandWorld, type Perform, type Typed, withJson } from '../../command.ts';
import { MfaStatusResponseFields } from '../../generated/fields.ts';
import { printRecord } from '../../print.ts';
import { withCode } from '../codes.ts';
import { askSecrets } from '../secrets.ts';

interface Options {
  readonly code?: string;
}

const FIELDS = [...MfaStatusResponseFields, 'secret', 'otpauth_uri', 'qr_code'];

export const mfaEnable = (mfa: Command, perform: Perform): Command =>
  withJson(
    FIELDS,
    mfa
      .command('enable')
      .description('Set up a second factor: shows the secret, takes a code from the app and the password, prints ten recovery codes')
      .option('--code <code>', 'code for a set-up that was started before; for scripts')
      .addHelpText(
        'after',
        '\nIn a pipe it takes two steps: without --code it prints the otpauth link, with it and the password on stdin the recovery codes.',
      ),
  ).action(perform(enable));

async function enable(world: CommandWorld, { options: { code: given } }: Typed<Options>): Promise<void> {
  const { input, err, signal } = world;
  const client = await world.connect('session');
  const askPassword = async () => (await askSecrets(world, { name: 'Password' }))[0] ?? '';
  if (given !== undefined)
    return showRecoveryCodes(world, await client.mfa.confirm({ password: await askPassword(), code: given }, { signal }));
  const begun = await client.mfa.begin({ signal });
  if (!input.isTty) return showLink(world, begun);
  err.write(`${await qrCode(world, begun.otpauth_uri)}Scan it with an authenticator app, or type in the secret ${begun.secret}\n`);
  err.write(`${begun.otpauth_uri}\n`);
  const password = await askPassword();
  showRecoveryCodes(world, await withCode(world, { given }, (code) => client.mfa.confirm({ password, code }, { signal })));
}

function showLink(world: CommandWorld, begun: MfaBeginResponse): void {
  if (world.jsonFields === undefined) world.out.write(`${begun.otpauth_uri}\n`);
  else printRecord(world, begun, []);
  world.err.write('Not on yet: confirm it with `tallygate mfa enable --code CODE`, the password on stdin.\n');
}

/** Alone on stdout, so that they can go to a file; they are shown this once. */
function showRecoveryCodes(world: CommandWorld, status: MfaStatusResponse): void {
  world.err.write('The second factor is on. Each of these codes replaces one from the app, once. They are not shown again:\n');
  if (world.jsonFields === undefined) world.out.write(`${(status.recovery_codes ?? []).join('\n')}\n`);
  else printRecord(world, status, []);
}

/** Half blocks are twice as high as wide, so that two rows of modules fit in a line. */
async function qrCode({ err }: CommandWorld, text: string): Promise<string> {
  if (!err.isTty) return '';
  // Loaded only now: no other command draws one.
  const { renderUnicodeCompact } = await import('uqr');
  return `${renderUnicodeCompact(text, { border: 2 })}\n`;
}
