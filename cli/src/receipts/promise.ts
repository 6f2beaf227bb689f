import type { Verification, VerifiedPromise } from '@tallygate/receipts';
import type { CommandWorld } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { plainText, printRecord } from '../print.ts';

interface Given {
  /** The value of `X-Receipt-Promise`. */
  readonly jws: string;
  readonly keys: unknown;
  /** What the receipt was found to be. */
  readonly receipt: Verification;
}

/**
 * Whether the receipt is what was promised with its answer. A promise whose receipt is not in the log by its time is broken, and a proof of
 * misbehaviour: the receipt alone may be valid all the same.
 */
export async function explainPromise(world: CommandWorld, { jws, keys, receipt }: Given): Promise<ExitCode> {
  const { verifyPromise } = await import('@tallygate/receipts');
  const found = verifyPromise(jws.trim(), keys, { receipt, now: world.now().getTime() });
  if (world.jsonFields !== undefined) printRecord(world, { ...found, ...(found.valid && { valid: found.state !== 'broken' }) }, []);
  else
    world.out.write(
      plainText(
        found.valid ? `${STATES[found.state]}${found.reason ? `: ${found.reason}` : ''}\n` : `not valid: ${found.reason} (${found.code})\n`,
      ),
    );
  return found.valid && found.state !== 'broken' ? EXIT.ok : EXIT.receiptNotValid;
}

const STATES: Readonly<Record<VerifiedPromise['state'], string>> = {
  kept: 'kept: the receipt is as promised, and in the log',
  pending: 'pending: the receipt is not in the log yet, and there is time left',
  broken: 'broken, which proves misbehaviour',
};
