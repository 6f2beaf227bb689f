import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

/** Asks the person for confirmation; `yes` skips the question, for scripts. @throws Failure if not confirmed */
export async function requireConsent({ input }: CommandWorld, question: string, yes: true | undefined): Promise<void> {
  if (yes) return;
  if (!input.isTty) throw new Failure('usage', 'This may cost money, and there is no terminal to confirm it.', EXIT.usage, 'Give --yes.');
  const reply = await input.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(reply)) throw new Failure('not_confirmed', 'Nothing was changed.', EXIT.failure);
}
