import type { CommandWorld } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure, reportOf } from '../failure.ts';

/** As many as the service takes for one login. */
const MAX_TRIES = 5;
const QUESTION = 'Code from the authenticator app';

/**
 * Does what needs a code. A code in an option is tried once; a person is asked again after a slip, as often as the service allows.
 * @param given from `--code`; without it and without a person nothing is tried
 */
export async function withCode<T>(
  world: CommandWorld,
  { given, question = QUESTION }: { readonly given: string | undefined; readonly question?: string },
  use: (code: string) => Promise<T>,
): Promise<T> {
  if (given !== undefined) return use(given);
  if (!world.input.isTty) {
    const nextStep = 'Repeat with --code and six digits from the authenticator app, or a recovery code.';
    throw new Failure(
      'mfa_required',
      'A second factor is needed, and there is no terminal to ask for it.',
      EXIT.authenticationNeeded,
      nextStep,
    );
  }
  for (let tries = 1; ; tries += 1) {
    const code = await world.input.ask(`${question}: `);
    try {
      return await use(code);
    } catch (error) {
      const { code: reason, message } = await reportOf(error);
      const isSlip = reason === 'invalid_mfa_code' || reason === 'validation_failed';
      if (!isSlip || tries === MAX_TRIES) throw error;
      world.err.write(reason === 'validation_failed' ? 'That is not a code.\n' : `${message}\n`);
    }
  }
}
