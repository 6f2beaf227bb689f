import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { JournalEntry } from './port.ts';
import { SettlementJournal } from './settlement-journal.ts';

/** A disk with so many bytes of room, and truncation and syncs that may fail; how many syncs did. */
const disk = { room: Number.POSITIVE_INFINITY, truncates: true, syncs: true, refused: 0 };
const { writeSync, ftruncateSync, fdatasync, fdatasyncSync } = fs;
const full = () => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
const failed = () => {
  disk.refused += 1;
  return Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
};
const changeDisk = (to: object): void => {
  Object.assign(fs, to);
  syncBuiltinESMExports();
};
beforeAll(() =>
  changeDisk({
    fdatasync: (fd: number, told: (error: Error | null) => void) => (disk.syncs ? fdatasync(fd, told) : setImmediate(() => told(failed()))),
    fdatasyncSync: (fd: number) => {
      if (!disk.syncs) throw failed();
      fdatasyncSync(fd);
    },
    writeSync: (fd: number, line: Buffer) => {
      if (disk.room === 0) throw full();
      const written = writeSync(fd, line.subarray(0, Math.min(disk.room, line.length)));
      disk.room -= written;
      return written;
    },
    ftruncateSync: (fd: number, length: number) => {
      if (!disk.truncates) throw full();
      ftruncateSync(fd, length);
    },
  }),
);
afterAll(() => changeDisk({ writeSync, ftruncateSync, fdatasync, fdatasyncSync }));

let dir: string;
let damage: { segment: string; line: string }[];
const opened: SettlementJournal[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tallygate-journal-'));
  damage = [];
  Object.assign(disk, { room: Number.POSITIVE_INFINITY, truncates: true, syncs: true, refused: 0 });
});

afterEach(() => {
  for (const journal of opened.splice(0)) journal.close();
  rmSync(dir, { recursive: true, force: true });
});

function openJournal(options?: { segmentBytes: number }): SettlementJournal {
  const journal = new SettlementJournal(dir, (segment, line) => damage.push({ segment, line: line.toString() }), options);
  opened.push(journal);
  return journal;
}

const entry = (id: number | string): JournalEntry => ({ charged: 7n, debt: 0n, covered: {}, record: JSON.stringify({ id }) });
const idsOf = (entries: readonly JournalEntry[]) => entries.map(({ record }) => JSON.parse(record).id);
const files = () => readdirSync(dir).sort();
const segment = (number: number) => join(dir, `settlements-${number}.log`);

async function drain(journal: SettlementJournal): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (;;) {
    const batch = await journal.read();
    if (batch.entries.length === 0) return entries;
    entries.push(...batch.entries);
    batch.acknowledge();
  }
}

describe('what was appended', () => {
  test('comes back in order and equal', async () => {
    const units = fc.dictionary(fc.constantFrom('requests', 'tokens', 'images'), fc.bigInt({ min: 0n, max: 10n ** 20n }));
    const entries = fc.record({
      charged: fc.bigInt({ min: 0n }),
      debt: fc.bigInt({ min: 0n }),
      covered: units,
      record: fc.jsonValue().map((value) => JSON.stringify(value)),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(entries, { maxLength: 20 }), async (written) => {
        const journal = new SettlementJournal(dir, () => {}, { segmentBytes: 200 });
        for (const one of written) journal.append(one);
        expect(await drain(journal)).toEqual(written);
        expect(journal.isDrained()).toBe(true);
        journal.close();
      }),
      { numRuns: 50 },
    );
  });

  test('is handed out again until it is acknowledged, also by the next process', async () => {
    const journal = new SettlementJournal(dir, () => {});
    journal.append(entry(1));
    expect(idsOf((await journal.read()).entries)).toEqual([1]);
    journal.append(entry(2));
    expect(idsOf((await journal.read()).entries)).toEqual([1, 2]);
    journal.close();
    const next = openJournal();
    expect(idsOf(await drain(next))).toEqual([1, 2]);
    expect(damage).toEqual([]);
  });

  test('is read into no more memory than it takes up', async () => {
    const allocate = vi.spyOn(Buffer, 'allocUnsafe');
    const journal = openJournal();
    journal.append(entry('one'));
    await drain(journal);
    const sizes = allocate.mock.calls.map(([size]) => size);
    allocate.mockRestore();
    expect(Math.max(...sizes)).toBeLessThan(1_000);
  });

  test('is not handed out again once it is acknowledged', async () => {
    const journal = openJournal();
    journal.append(entry(1));
    const first = await journal.read();
    journal.append(entry(2));
    first.acknowledge();
    expect(idsOf((await journal.read()).entries)).toEqual([2]);
  });

  test('is known as acknowledged by its position, entry by entry', async () => {
    const journal = openJournal({ segmentBytes: 1 });
    const [first, second] = [journal.append(entry(1)), journal.append(entry(2))];
    expect([journal.isAcknowledged(first), journal.isAcknowledged(second)]).toEqual([false, false]);
    (await journal.read()).acknowledge();
    expect([journal.isAcknowledged(first), journal.isAcknowledged(second)]).toEqual([true, false]);
    expect(journal.isDrained()).toBe(false);
    await drain(journal);
    expect([journal.isAcknowledged(first), journal.isAcknowledged(second), journal.isDrained()]).toEqual([true, true, true]);
  });

  test('calls the reader back, once it can be read', async () => {
    const journal = openJournal();
    const { promise, resolve } = Promise.withResolvers<void>();
    journal.onAppend(resolve);
    journal.append(entry(1));
    await promise;
    expect(idsOf((await journal.read()).entries)).toEqual([1]);
  });

  test('survives kill -9 at any moment: every entry that was reported is read back', async () => {
    const script = `
      import { writeSync } from 'node:fs';
      import { SettlementJournal } from ${JSON.stringify(new URL('./settlement-journal.ts', import.meta.url).href)};
      const journal = new SettlementJournal(${JSON.stringify(dir)}, () => {}, { segmentBytes: 20_000 });
      const padding = 'x'.repeat(500);
      for (let id = 0; ; id += 1) {
        journal.append({ charged: 1n, debt: 0n, covered: {}, record: JSON.stringify({ id, padding }) });
        writeSync(1, id + '\\n');
      }`;
    const args = ['--conditions=tallygate-source', '--input-type=module-typescript', '-e', script];
    const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const exit = once(child, 'exit');
    let reported = -1;
    if (!child.stdout) throw new Error('no pipe');
    for await (const line of createInterface({ input: child.stdout })) {
      reported = Number(line);
      if (reported === 300) child.kill('SIGKILL');
    }
    await exit;
    const ids = idsOf(await drain(openJournal()));
    expect(reported).toBeGreaterThanOrEqual(300);
    expect(ids.slice(0, reported + 1)).toEqual(Array.from({ length: reported + 1 }, (_, id) => id));
    // One more may be there: written, and killed before it was reported.
    expect(ids.length - reported - 1).toBeLessThanOrEqual(1);
  });
});

describe('damage', () => {
  /** A journal of an earlier process that holds these entries, to be tampered with. */
  function earlier(...ids: number[]): string {
    const journal = new SettlementJournal(dir, () => {});
    for (const id of ids) journal.append(entry(id));
    journal.close();
    return segment(1);
  }

  test('a torn last line is reported, and what stands before it kept', async () => {
    const path = earlier(1, 2, 3);
    writeFileSync(path, readFileSync(path).subarray(0, -9));
    expect(idsOf(await drain(openJournal()))).toEqual([1, 2]);
    expect(damage).toEqual([{ segment: path, line: expect.stringMatching(/^[0-9a-f]{8} \{"charged"/) }]);
  });

  test('a last line that lacks nothing but its newline is kept', async () => {
    const path = earlier(1, 2, 3);
    writeFileSync(path, readFileSync(path).subarray(0, -1));
    const journal = openJournal();
    journal.append(entry(4));
    expect(idsOf(await drain(journal))).toEqual([1, 2, 3, 4]);
    expect(damage).toEqual([]);
    expect(files()).toEqual(['settlements-2.log']);
  });

  test('a damaged line in the middle is reported, and its neighbours kept', async () => {
    const path = earlier(1, 2, 3);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"id":2', '"id":4'));
    expect(idsOf(await drain(openJournal()))).toEqual([1, 3]);
    expect(damage).toEqual([{ segment: path, line: expect.stringContaining('"id":4') }]);
  });

  describe.each(['begun', 'settled', 'released'])('of what says that a call was %s', (which) => {
    /** The line and the newline behind it are at these bytes of the segment. */
    function calls() {
      const journal = new SettlementJournal(dir, () => {});
      const lines = [
        () => journal.begin({ ...entry('begun'), holdId: 'a' }),
        () => journal.append(entry('settled'), 'a'),
        () => journal.begin({ ...entry('begun too'), holdId: 'b' }),
        () => journal.end('b'),
        () => journal.append(entry('last')),
      ];
      const at = { begun: 0, settled: 1, released: 3 }[which] ?? 0;
      const ends = lines.map((write) => {
        write();
        return journal.position().end;
      });
      journal.close();
      return { bytes: readFileSync(segment(1)), from: ends[at - 1] ?? 0, end: ends[at] ?? 0 };
    }

    test('any flipped bit of the line is reported, and the line is kept whole', async () => {
      const { bytes, from, end } = calls();
      for (let at = from; at < end - 1; at += 5)
        for (const bit of [1, 8, 128]) {
          const altered = Buffer.from(bytes);
          altered[at] = (altered[at] ?? 0) ^ bit;
          if (altered[at] === 10) continue;
          writeFileSync(segment(1), altered);
          const found: Buffer[] = [];
          const journal = new SettlementJournal(dir, (_, line) => found.push(line));
          journal.left();
          const ids = idsOf(await drain(journal));
          expect(ids).toEqual(which === 'settled' ? ['last'] : ['settled', 'last']);
          expect(found).toEqual([altered.subarray(from, end - 1)]);
          journal.close();
        }
    });

    test('a newline that became another byte is reported, and takes no entry with it', async () => {
      const { bytes, end } = calls();
      bytes[end - 1] = 11;
      writeFileSync(segment(1), bytes);
      const journal = openJournal();
      expect([...journal.left().inFlight.keys()]).toEqual([]);
      expect(idsOf(await drain(journal))).toEqual(['settled', 'last']);
      expect(damage).toHaveLength(1);
    });
  });

  test('holds that could not be freed are known to the next process until one has, also once their segment is gone', async () => {
    const first = new SettlementJournal(dir, () => {});
    first.begin({ ...entry('begun'), holdId: 'a' });
    const ends = { a: { partition: 7, owner: 'one' }, b: { partition: 9, owner: 'one' } };
    for (const [holdId, untold] of Object.entries(ends)) first.endLater(holdId, untold);
    first.close();
    const second = new SettlementJournal(dir, () => {});
    expect(second.left()).toEqual({ inFlight: new Map(), unfreed: new Map(Object.entries(ends)) });
    second.end('a');
    expect(await drain(second)).toEqual([]);
    expect(second.isSettled()).toBe(false);
    second.close();
    const third = openJournal();
    expect(third.left().unfreed).toEqual(new Map([['b', ends.b]]));
    third.recover();
    for (let reads = 0; reads < 2; reads += 1) expect(await drain(third)).toEqual([]);
    expect(third.isSettled()).toBe(true);
  });

  test('a segment of nothing but damage does not hide the segments after it', async () => {
    const path = earlier(1);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"id":1', '"id":9'));
    const journal = openJournal();
    journal.append(entry(2));
    expect(idsOf(await drain(journal))).toEqual([2]);
    expect(damage).toHaveLength(1);
    expect(journal.isDrained()).toBe(true);
  });

  test('an entry that is whole but does not say what was decided is reported and passed over', async () => {
    const journal = openJournal();
    journal.append({ ...entry(1), covered: { 'not "json': 1n } });
    journal.append(entry(2));
    expect(idsOf(await drain(journal))).toEqual([2]);
    expect(damage).toEqual([{ segment: segment(1), line: expect.stringContaining('not "json') }]);
  });

  test('a record that is no JSON is handed out as it stands: the ledger sets it aside', async () => {
    const journal = openJournal();
    journal.append({ ...entry(1), record: 'not json' });
    expect((await journal.read()).entries).toEqual([{ ...entry(1), record: 'not json' }]);
    expect(damage).toEqual([]);
  });

  test('an empty segment is passed over', async () => {
    writeFileSync(segment(1), '');
    writeFileSync(segment(2), readFileSync(earlier(1)).subarray(0, 0));
    const journal = openJournal();
    journal.append(entry(3));
    expect(idsOf(await drain(journal))).toEqual([3]);
    expect(damage).toEqual([]);
  });

  test('nothing is ever appended to a segment of an earlier process', () => {
    const path = earlier(1);
    appendFileSync(path, 'torn');
    const before = readFileSync(path);
    openJournal().append(entry(2));
    expect(readFileSync(path)).toEqual(before);
  });
});

describe('segments', () => {
  test('are read in the order of their numbers and removed once they are acknowledged', async () => {
    const journal = openJournal({ segmentBytes: 1 });
    const ids = Array.from({ length: 12 }, (_, id) => id);
    for (const id of ids) journal.append(entry(id));
    expect(files()).toHaveLength(12);
    expect(idsOf(await drain(journal))).toEqual(ids);
    expect(files()).toEqual(['settlements-12.log']);
  });

  test('an append that starts the next segment while the last one is being read is not lost', async () => {
    const journal = openJournal({ segmentBytes: 1 });
    journal.append(entry(1));
    await drain(journal);
    const reading = journal.read();
    journal.append(entry(2));
    journal.append(entry(3));
    const { entries } = await reading;
    expect([...idsOf(entries), ...idsOf(await drain(journal))]).toEqual([2, 3]);
  });

  test('a journal that is closed drained leaves no file, one that is not leaves its entries', async () => {
    const journal = new SettlementJournal(dir, () => {});
    journal.append(entry(1));
    await drain(journal);
    journal.close();
    expect(files()).toEqual([]);
    const other = new SettlementJournal(dir, () => {});
    other.append(entry(2));
    other.close();
    expect(idsOf(await drain(openJournal()))).toEqual([2]);
  });

  test('a closed journal takes nothing', () => {
    const journal = new SettlementJournal(dir, () => {});
    journal.close();
    expect(() => journal.append(entry(1))).toThrow('closed');
  });
});

describe('a full disk', () => {
  test.each([
    ['nothing', 0],
    ['half a line', 30],
  ])('an entry of which %s could be written throws and does not count', async (_, room) => {
    const journal = openJournal();
    journal.append(entry(1));
    disk.room = room;
    expect(() => journal.append(entry(2))).toThrow(/full disk|ENOSPC/);
    disk.room = Number.POSITIVE_INFINITY;
    journal.append(entry(3));
    expect(idsOf(await drain(journal))).toEqual([1, 3]);
    expect(damage).toEqual([]);
    expect(journal.isDrained()).toBe(true);
  });

  test('nothing is appended behind half a line that cannot be taken back', async () => {
    const journal = openJournal();
    journal.append(entry(1));
    Object.assign(disk, { room: 30, truncates: false });
    expect(() => journal.append(entry(2))).toThrow();
    expect(() => journal.append(entry(2))).toThrow();
    Object.assign(disk, { room: Number.POSITIVE_INFINITY, truncates: true });
    journal.append(entry(3));
    expect(idsOf(await drain(journal))).toEqual([1, 3]);
    expect(damage).toHaveLength(1);
    expect(journal.isDrained()).toBe(true);
  });

  test('a disk that refuses to sync gets nothing more until it has synced another segment', async () => {
    const journal = openJournal();
    Object.assign(disk, { syncs: false });
    journal.append(entry(1));
    await expect.poll(() => disk.refused).toBeGreaterThan(0);
    expect(() => journal.append(entry(2))).toThrow('EIO');
    Object.assign(disk, { syncs: true });
    journal.append(entry(3));
    expect(idsOf(await drain(journal))).toEqual([1, 3]);
    expect(files()).not.toContain('settlements-1.log');
  });

  test('a next segment that cannot be started throws before anything is written', async () => {
    const journal = openJournal({ segmentBytes: 1 });
    journal.append(entry(1));
    writeFileSync(segment(2), '');
    expect(() => journal.append(entry(2))).toThrow('EEXIST');
    rmSync(segment(2));
    journal.append(entry(3));
    expect(idsOf(await drain(journal))).toEqual([1, 3]);
  });
});

describe('a hold in flight', () => {
  const open = (holdId: string, record = `{"id":"${holdId}"}`) => ({ holdId, charged: 9n, debt: 0n, covered: {}, record });
  const recordsOf = async (journal: SettlementJournal): Promise<string[]> => {
    const records: string[] = [];
    for (let batch = await journal.read(); batch.entries.length > 0; batch = await journal.read()) {
      records.push(...batch.entries.map(({ record }) => record));
      batch.acknowledge();
    }
    return records;
  };
  const another = (options?: { segmentBytes?: number; mostBehindMs?: number }): SettlementJournal => {
    const journal = new SettlementJournal(dir, (segment, line) => damage.push({ segment, line: line.toString() }), options);
    opened.push(journal);
    return journal;
  };

  test('is settled once by the next process, at what it was begun with', async () => {
    const dead = another();
    dead.begin(open('a'));
    dead.begin(open('b'));
    dead.append(open('b', '{"id":"b","settled":true}'), 'b');
    dead.begin(open('c'));
    dead.end('c');
    const next = another();
    expect(next.recover()).toBe(1);
    expect((await recordsOf(next)).sort()).toEqual(['{"id":"a"}', '{"id":"b","settled":true}']);
    expect(damage).toEqual([]);
  });

  test('is not settled again where the process that recovered it died too', async () => {
    another().begin(open('a'));
    expect(another().recover()).toBe(1);
    const last = another();
    expect(last.recover()).toBe(0);
    expect(await recordsOf(last)).toEqual(['{"id":"a"}']);
  });

  test('is no entry for the ledger while it runs', async () => {
    const journal = another();
    let told = 0;
    journal.onAppend(() => (told += 1));
    journal.begin(open('a'));
    expect((await journal.read()).entries).toEqual([]);
    expect([told, journal.isDrained()]).toEqual([0, true]);
  });

  test('outlives the segment that it was written to', async () => {
    const journal = another({ segmentBytes: 200 });
    journal.begin(open('long'));
    for (let call = 0; call < 20; call += 1) {
      journal.append(open(`other-${call}`));
      await recordsOf(journal);
    }
    expect(readdirSync(dir)).not.toContain('settlements-1.log');
    const next = another();
    expect(next.recover()).toBe(1);
    expect(await recordsOf(next)).toContain('{"id":"long"}');
  });

  test('is not begun while the ledger has taken nothing for too long, and is once it has', async () => {
    const journal = another({ mostBehindMs: 0 });
    journal.begin(open('a'));
    journal.append(open('a'), 'a');
    await expect.poll(() => journal.isTooFarBehind(), { interval: 1 }).toBe(true);
    expect(() => journal.begin(open('b'))).toThrow('The ledger has taken no settlement for too long.');
    journal.append(entry('of a call that runs'));
    await recordsOf(journal);
    expect([journal.behindMs(), journal.isTooFarBehind()]).toEqual([0, false]);
    journal.begin(open('b'));
    expect(journal.behindMs()).toBe(0);
  });

  test('that cannot be written is not begun', () => {
    const journal = another();
    disk.room = 10;
    expect(() => journal.begin(open('a'))).toThrow();
    disk.room = Number.POSITIVE_INFINITY;
    expect(another().recover()).toBe(0);
  });

  test('whatever was begun, settled or released before a crash: each is settled exactly once or never held', async () => {
    const steps = fc.array(fc.tuple(fc.nat(5), fc.constantFrom('settle', 'end', 'read', 'crash')), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(steps, async (plan) => {
        const folder = mkdtempSync(join(dir, 'run-'));
        const start = () => new SettlementJournal(folder, () => damage.push({ segment: '', line: '' }), { segmentBytes: 300 });
        let journal = start();
        const running = new Set<string>();
        const owed: string[] = [];
        const seen: string[] = [];
        let serial = 0;
        for (const [index, what] of plan) {
          const id = `${serial++}`;
          journal.begin(open(id));
          running.add(id);
          const chosen = [...running][index % running.size] ?? id;
          if (what === 'settle') journal.append(open(chosen), chosen);
          if (what === 'end') journal.end(chosen);
          if (what === 'settle') owed.push(`{"id":"${chosen}"}`);
          if (what === 'settle' || what === 'end') running.delete(chosen);
          if (what === 'read') seen.push(...(await recordsOf(journal)));
          if (what === 'crash') {
            for (const left of running) owed.push(`{"id":"${left}"}`);
            running.clear();
            journal = start();
            journal.recover();
          }
        }
        seen.push(...(await recordsOf(journal)));
        // What was read before a crash may be handed out again: the ledger knows it by its request.
        expect([...new Set(seen)].sort()).toEqual(owed.sort());
      }),
      { numRuns: 30 },
    );
  });
});
