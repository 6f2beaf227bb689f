import { join } from 'node:path';
import type { Pool } from 'pg';
import { openLocalDisk } from '../adapters/blobs/local-disk.ts';
import type { JournalEntry, SettlementFeed } from '../adapters/lanes/port.ts';
import { Archive } from '../archive/index.ts';
import type { Log } from '../kernel/log.ts';
import { LedgerWriter, startPageThread } from '../money/ledger/index.ts';
import { ownSealKey } from '../receipts/index.ts';
import type { Config } from './config.ts';
import { Quarantine } from './quarantine.ts';
import { standingReceiptKeys } from './receipt-keys.ts';

interface Deps {
  readonly pool: Pool;
  readonly config: Config;
  readonly log: Log;
}

type Answer = { readonly isDone: boolean; readonly said: string };

const SHOWN = 200;
const counted = (count: number) => (count === 1 ? '1 settlement' : `${count} settlements`);

/** What waits in the quarantine of the gateway in DATA_DIR, and what becomes of it. Not done: while something waits. */
export async function quarantineByOperator(deps: Deps, what: 'list' | 'replay' | 'give-up'): Promise<Answer> {
  const quarantine = new Quarantine(join(deps.config.dataDir, 'journal'));
  switch (what) {
    case 'list': {
      const lines = quarantine
        .waiting()
        .map(({ reason = '', record, damaged = '' }) => `${reason}\t${(record ?? damaged).slice(0, SHOWN)}`);
      return { isDone: lines.length === 0, said: lines.length === 0 ? 'Nothing waits.' : lines.join('\n') };
    }
    case 'replay': {
      const { booked, left } = await replay(quarantine, deps);
      return { isDone: left === 0, said: `${counted(booked)} booked, ${left} waiting.` };
    }
    case 'give-up':
      return { isDone: true, said: `${counted(quarantine.giveUp())} given up: they are in journal/given-up.jsonl.` };
    default:
      return what satisfies never;
  }
}

async function replay(quarantine: Quarantine, { pool, config, log }: Deps) {
  const folder = { file: (...segments: string[]) => join(config.dataDir, ...segments) };
  const pages = startPageThread(ownSealKey(standingReceiptKeys(config, folder)));
  const book = async (entry: JournalEntry): Promise<boolean> => {
    let isBooked = true;
    const onQuarantine = () => {
      isBooked = false;
    };
    const writer = new LedgerWriter({
      feed: feedOf(entry),
      pool,
      archive: new Archive(pool, await openLocalDisk(join(config.dataDir, 'blobs'))),
      pages,
      log,
      onQuarantine,
    });
    await writer.close();
    return isBooked;
  };
  try {
    return await quarantine.replay(book);
  } finally {
    await pages.close();
  }
}

function feedOf(entry: JournalEntry): SettlementFeed {
  let entries = [entry];
  const acknowledge = () => {
    entries = [];
  };
  return { read: async () => ({ entries, ceilings: [], acknowledge }), onAppend: () => {} };
}
