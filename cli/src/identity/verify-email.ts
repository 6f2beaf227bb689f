import type { Command } from 'commander';
import type { CommandWorld, Perform, Typed } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

interface Options {
  readonly resend?: string;
}

export const verifyEmail = (command: Command, perform: Perform): Command =>
  command
    .argument('[token]', 'token of the mail, `tgv_…`')
    .option('--resend <address>', 'send the mail to this address again')
    .action(perform(verify));

async function verify(world: CommandWorld, { args: [token], options: { resend } }: Typed<Options>): Promise<void> {
  const { err, signal } = world;
  const client = await world.connect('none');
  if (token !== undefined) {
    await client.identity.verifyEmail(token, { signal });
    err.write('The address is confirmed.\n');
  } else if (resend !== undefined) {
    await client.identity.resendVerification(resend, { signal });
    err.write(`If ${resend} is not confirmed yet, a mail was sent.\n`);
  } else throw new Failure('usage', 'Give the token of the mail, or --resend.', EXIT.usage);
}
