import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from './config.ts';
import { Quarantine } from './quarantine.ts';

type Answer = { readonly isDone: boolean; readonly said: string };

const SHOWN = 200;
const GATEWAY_WITHIN_MS = 20_000;
const LOOK_MS = 100;
const counted = (count: number) => (count === 1 ? '1 settlement' : `${count} settlements`);

/** What waits in the quarantine of the gateway in DATA_DIR, and what becomes of it. Not done: while something waits. */
export async function quarantineByOperator(
  { dataDir }: Pick<Config, 'dataDir'>,
  what: 'list' | 'replay' | 'give-up',
  withinMs = GATEWAY_WITHIN_MS,
): Promise<Answer> {
  const quarantine = new Quarantine(join(dataDir, 'journal'));
  switch (what) {
    case 'list': {
      const lines = quarantine
        .waiting()
        .map(({ reason = '', record, damaged = '' }) => `${reason}\t${(record ?? damaged).slice(0, SHOWN)}`);
      return { isDone: lines.length === 0, said: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    }
    case 'replay':
      return replay(quarantine, withinMs);
    case 'give-up':
      return { isDone: true, said: `${counted(quarantine.giveUp())} given up: they are in journal/given-up.jsonl.` };
    default:
      return what satisfies never;
  }
}

/** The gateway does it: it knows what is held, and what fits. */
async function replay(quarantine: Quarantine, withinMs: number): Promise<Answer> {
  const before = quarantine.waiting().length;
  quarantine.askForReplay();
  for (const until = performance.now() + withinMs; quarantine.isAsked; await delay(LOOK_MS))
    if (performance.now() > until) return { isDone: false, said: `The gateway books ${counted(before)} again when it runs.` };
  const left = quarantine.waiting().length;
  return { isDone: left === 0, said: `${counted(Math.max(0, before - left))} booked, ${left} waiting.` };
}
