import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** Goes on only if the person says so; `yes` says so beforehand, for scripts. @throws Failure otherwise */
export async function requireConsent({ input }: CommandWorld, question: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!input.isTty) throw new Failure('usage', 'This may cost money, and there is nobody to ask.', EXIT.usage, 'Give --yes.');
  const reply = await input.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(reply)) throw new Failure('not_confirmed', 'Nothing was changed.', EXIT.failure);
}
