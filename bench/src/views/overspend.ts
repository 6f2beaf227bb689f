import { exactUsd } from '../gateway.ts';
import type { Answer } from '../http-connection.ts';
import { closedLoop, sequential } from '../load.ts';
import type { Settings } from '../settings.ts';
import type { Kind, Subjects } from '../subjects.ts';

/** What came of a cap under load. */
export interface Overspend {
  readonly kind: Kind;
  readonly capUsd: string;
  readonly spentUsd: string;
  readonly overspentUsd: string;
  readonly answered: number;
  /** Refusals by status. */
  readonly refused: Readonly<Record<string, number>>;
}

/** The cap is worth so many requests at what one really costs. */
const REQUESTS_WORTH = 300n;

/**
 * Everybody at once on a key whose cap is far too small. What counts is what the ledger says afterwards.
 * @throws when an answer is missing in the ledger, or was neither a success nor a refusal over money
 */
export async function overspend({ gateway, shotWith }: Subjects, kind: Kind, settings: Settings['overspend']): Promise<Overspend> {
  const trial = await gateway.newKey();
  await sequential(shotWith(trial.key, kind), 1);
  await gateway.drained();
  const cap = (await gateway.recorded(trial.id)).costNano * REQUESTS_WORTH;

  const capped = await gateway.newKey(exactUsd(cap).replace(/0+$/, ''));
  let answered = 0;
  const refused: Record<string, number> = {};
  const count = ({ status, body }: Answer): void => {
    if (status === 200) answered += 1;
    else if (status === 402 || status === 429) refused[status] = (refused[status] ?? 0) + 1;
    else throw new Error(`A capped key got ${status}: ${body.toString().slice(0, 400)}`);
  };
  await closedLoop(shotWith(capped.key, kind), settings.connections, settings.ms, count);
  await gateway.drained();

  const { requests, costNano: spent } = await gateway.recorded(capped.id);
  if (requests !== answered) throw new Error(`${answered} requests of the capped key were answered, the ledger holds ${requests}`);
  return {
    kind,
    capUsd: exactUsd(cap),
    spentUsd: exactUsd(spent),
    overspentUsd: exactUsd(spent > cap ? spent - cap : 0n),
    answered,
    refused,
  };
}

export const isOverspent = ({ overspentUsd }: Overspend): boolean => /[1-9]/.test(overspentUsd);
