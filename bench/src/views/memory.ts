import { setTimeout as delay } from 'node:timers/promises';
import { HttpConnection } from '../http-connection.ts';
import { together } from '../load.ts';
import { residentMemory } from '../proc.ts';
import type { Row } from '../report.ts';
import type { Settings } from '../settings.ts';
import type { Subject, Subjects } from '../subjects.ts';

const LOOK_MS = 20;
const KB_PER_MB = 1024;

/** What a running stream takes, and whether a client that does not read makes memory grow. */
export async function memory({ all, gateway }: Subjects, settings: Settings['memory']): Promise<Row[]> {
  const running: Record<string, number> = {};
  const slow: Record<string, number> = {};
  for (const { name, pid, pacedStream, longStream } of all) {
    if (pid === undefined) continue;
    running[name] = (await growth(pid, () => together(pacedStream, settings.streams))) / settings.streams;
    slow[name] = (await growth(pid, () => unread(longStream, settings))) / settings.slowReaders;
  }
  // Streams that were hung up on are settled as far as they got, and are answers in no client's count.
  gateway.tally.countUnread(settings.slowReaders);
  const kilobytes = (megabytes: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(megabytes).map(([name, value]) => [name, value * KB_PER_MB]));
  return [
    { what: `of each of ${settings.streams.toLocaleString('en')} streams at once, at the peak`, unit: 'kB', values: kilobytes(running) },
    { what: `of each of ${settings.slowReaders} clients that do not read their 5 MB`, unit: 'kB', values: kilobytes(slow) },
  ];
}

/** By how much a process grows at most while something goes on, megabytes. */
async function growth(pid: number, work: () => Promise<unknown>): Promise<number> {
  const before = residentMemory(pid).nowMb;
  let most = before;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, residentMemory(pid).nowMb);
      await delay(LOOK_MS);
    }
  })();
  await work().finally(() => {
    isOver = true;
  });
  await watching;
  return most - before;
}

/** Asks for long streams, reads nothing of them, and hangs up. */
async function unread(shot: Subject['longStream'], { slowReaders, slowMs }: Settings['memory']): Promise<void> {
  const opened = await Promise.all(Array.from({ length: slowReaders }, () => HttpConnection.open(shot.origin)));
  for (const connection of opened) connection.sendUnread(shot);
  await delay(slowMs);
  for (const connection of opened) connection.close();
}
